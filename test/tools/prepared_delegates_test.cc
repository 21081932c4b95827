// Compares the memory that pte_inspect predicts for a method with the memory after a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/program_builder.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/inputs.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/description_text.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tools::Json;

Json describe_prepared(const fs::path& program) {
  const AlignedBytes bytes = read_file_bytes(program);
  return tools::describe_file({program.string(), bytes, nullptr, /*prepares_delegates=*/true});
}

std::vector<fs::path> programs_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (folder.empty()) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".pte") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// Returns the memory after a run with random inputs, or nullopt for a method that needs files or
// special inputs.
std::optional<MemoryUsage> measured_memory(const fs::path& program, const std::string& method) {
  try {
    tools::SessionOptions options;
    options.model = program;
    tools::Session session(options);
    const std::unique_ptr<Method> loaded = session.load_method(method);
    tools::InputSet inputs(*loaded, {}, /*seed=*/0);
    inputs.apply(*loaded);
    tools::check(loaded->execute());
    return loaded->memory_usage();
  } catch (const tools::ToolError&) {
    return std::nullopt;
  }
}

constexpr std::pair<DelegateMemory::Kind, const char*> kKinds[] = {
    {DelegateMemory::Kind::kPackedWeights, "packed_weights_bytes"},
    {DelegateMemory::Kind::kWorkspace, "workspace_bytes"},
    {DelegateMemory::Kind::kConstants, "constants_bytes"}};

// Returns the number of methods that were compared.
size_t compare_with_runs(const fs::path& program) {
  size_t compared = 0;
  const Json description = describe_prepared(program);
  for (const Json& method : description["methods"]) {
    if (!method.contains("delegate_memory")) continue;
    const Json& prepared = method["delegate_memory"];
    const auto measured = measured_memory(program, method["name"]);
    if (!measured) continue;
    EXPECT_EQ(prepared["unknown"], Json::array()) << program;
    for (const auto& [kind, key] : kKinds) {
      const auto expected = static_cast<double>(measured->delegates.bytes(kind));
      const auto bytes = prepared[key].get<double>();
      SCOPED_TRACE(testing::Message() << program << ": " << method["name"] << ": " << key);
      EXPECT_LE(bytes, 1.1 * expected);
      // After a run, the measured packed weights include those of kernels, which the prediction
      // leaves out.
      if (kind != DelegateMemory::Kind::kPackedWeights || method["operators"].empty()) {
        EXPECT_GE(bytes, 0.9 * expected);
      }
    }
    ++compared;
  }
  return compared;
}

TEST(PreparedDelegatesTest, PredictedMemoryOfSampleModelsMatchesMeasuredRuns) {
  size_t compared = 0;
  for (const char* name : {"linear_relu", "digits_xnnpack", "digits_xnnpack_q8", "mv2_025_xnnpack",
                           "dynamic_batch_xnnpack"}) {
    compared += compare_with_runs(samples_dir() / name / "model.pte");
  }
  EXPECT_EQ(compared, 5u);
}

TEST(PreparedDelegatesTest, MemoryOfCorpusMatchesMeasuredRuns) {
  VITRINE_NEEDS_CORPUS();
  size_t compared = 0;
  for (const fs::path& folder :
       {corpus_dir(), corpus_15_dir(), corpus_llm_dir(), corpus_ptq_dir()}) {
    for (const fs::path& program : programs_below(folder)) compared += compare_with_runs(program);
  }
  EXPECT_GE(compared, 20u);
}

TEST(PreparedDelegatesTest, TextTellsHowFiguresWereObtained) {
  const Json json = describe_prepared(samples_dir() / "linear_relu/model.pte");
  const std::string text = tools::description_text(json, {.width = 200});
  EXPECT_THAT(text, HasSubstr("weights of delegates: 724 B"));
  EXPECT_THAT(text, HasSubstr("  loaded  "));
  EXPECT_THAT(text, HasSubstr("prepared on this machine"));
}

TEST(PreparedDelegatesTest, ProgramWithoutDelegatesHasNoDelegateMemory) {
  const Json json = describe_prepared(samples_dir() / "add_mul/model.pte");
  for (const Json& method : json["methods"]) {
    EXPECT_EQ(method.contains("delegate_memory"), !method["delegates"].empty());
  }
}

TEST(PreparedDelegatesTest, ListsDelegatesWhoseMemoryIsUnknown) {
  const Json json = describe_prepared(samples_dir() / "formats/vulkan_conv_relu_linear.pte");
  EXPECT_EQ(json["methods"][0]["delegate_memory"]["unknown"],
            Json::array({"delegate 0: this build lacks the backend VulkanBackend"}));
  const std::string text = tools::description_text(json, {.width = 200});
  EXPECT_THAT(text, HasSubstr("at least 3.1 kB"));
  EXPECT_THAT(text, HasSubstr("not in it: delegate 0: this build lacks the backend VulkanBackend"));
}

TEST(PreparedDelegatesTest, MemoryOfDamagedPayloadIsUnknown) {
  AlignedBytes bytes = read_file_bytes(samples_dir() / "linear_relu/model.pte");
  const Json whole = tools::describe_file({"a.pte", bytes});
  for (const Json& segment : whole["segments"]) {
    if (segment["holds"].dump().find("delegate 0") == std::string::npos) continue;
    std::fill_n(bytes.begin() + segment["offset"].get<std::ptrdiff_t>(), 64, std::byte{0xFF});
  }
  const Json json = tools::describe_file({"a.pte", bytes, nullptr, true});
  const Json& memory = json["methods"][0]["delegate_memory"];
  ASSERT_EQ(memory["unknown"].size(), 1u);
  EXPECT_EQ(memory["packed_weights_bytes"], 0);
}

}  // namespace
}  // namespace vitrine::test
