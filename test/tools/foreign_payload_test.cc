// Tests that pte_inspect explains programs for other backends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/foreign_payloads.h"
#include "test/support/program_builder.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/inputs.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/description_text.h"
#include "tools/pte_inspect/inspect.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/program_graph.h"
#include "tools/pte_inspect/verification.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using tools::Json;

Json described(const fs::path& path) {
  const AlignedBytes bytes = read_file_bytes(path);
  return tools::describe_file({path.string(), bytes});
}

const fs::path vulkan_sample() { return samples_dir() / "formats" / "vulkan_conv_relu_linear.pte"; }

TEST(ForeignPayloadTest, DescribesAVulkanDelegate) {
  const Json json = described(vulkan_sample());
  const Json& delegate = json["methods"][0]["delegates"][0];
  const Json& payload = delegate["payload"];
  EXPECT_EQ(payload["operators"], 8);
  EXPECT_EQ(payload["missing_constants"], 0);
  // The sizes of the weights and biases of the model: 8x3x3x3, 8, 8x1x3x3, 8, 10x128, 10.
  EXPECT_EQ(payload["constant_bytes"], 4 * (216 + 8 + 72 + 8 + 1280 + 10));
  const std::string text = tools::description_text(json, {});
  EXPECT_THAT(text, HasSubstr("[2] aten.hardswish.default(%8) -> %9 f32[1,8,8,8]"));
  EXPECT_THAT(text, HasSubstr("constants in payloads of other backends: 6.4 kB"));
}

TEST(ForeignPayloadTest, PrintsOperatorsInTheGraph) {
  const AlignedBytes bytes = read_file_bytes(vulkan_sample());
  const auto graphs = tools::graphs_of_program(*tools::load_program({"a.pte", bytes}));
  EXPECT_THAT(tools::graph_text(graphs.at(0)),
              HasSubstr("        [6] aten.linear.default(%13, %4, %5) -> %14 f32[1,10]\n"));
}

TEST(ForeignPayloadTest, DescribesPayloadsInSeparateFiles) {
  for (const ForeignPayload& sample : foreign_payloads()) {
    if (std::string_view(sample.backend) == "NeutronBackend") continue;
    const Json json = tools::describe_file({"payload", sample.bytes});
    EXPECT_NE(json["payload"]["kind"], "") << sample.backend;
    EXPECT_THAT(tools::description_text(json, {}), HasSubstr("payload of another backend"));
  }
}

TEST(ForeignPayloadTest, DescribesASharedPayloadOnce) {
  ProgramBuilder builder;
  const AlignedBytes payload = vulkan_payload();
  const Bytes bytes(payload.begin(), payload.end());
  auto& forward = builder.method("forward");
  forward.delegate({.id = "VulkanBackend", .payload = bytes});
  forward.delegate({.id = "VulkanBackend", .payload = bytes, .index = 0});
  const AlignedBytes file = builder.build();
  const Json json = tools::describe_file({"a.pte", file});
  const Json& delegates = json["methods"][0]["delegates"];
  EXPECT_EQ(delegates[0]["payload"]["operators"], 2);
  EXPECT_EQ(delegates[1]["same_as"], "delegate 0 of forward");
  EXPECT_FALSE(delegates[1].contains("payload"));
}

TEST(ForeignPayloadTest, ReportsADamagedPayload) {
  AlignedBytes bytes = read_file_bytes(vulkan_sample());
  const std::string identifier = "VK00";
  const auto at = std::search(bytes.begin(), bytes.end(), identifier.begin(), identifier.end(),
                              [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
  ASSERT_NE(at, bytes.end());
  *at = std::byte{0};
  const Json json = tools::describe_file({"a.pte", bytes});
  EXPECT_THAT(tools::description_text(json, {}), HasSubstr("damaged: Vulkan flatbuffer"));
}

TEST(ForeignPayloadTest, VerifiesThatConstantsExist) {
  const AlignedBytes bytes = read_file_bytes(vulkan_sample());
  const auto checks = tools::verify_file({"a.pte", bytes}, nullptr);
  const auto payload =
      std::ranges::find(checks, "method forward: delegate 0: payload", &tools::CheckResult::name);
  ASSERT_NE(payload, checks.end());
  EXPECT_EQ(payload->error, "");
  ProgramBuilder builder;
  const AlignedBytes inner = vulkan_payload();
  builder.method("forward").delegate(
      {.id = "VulkanBackend", .payload = Bytes(inner.begin(), inner.end())});
  const AlignedBytes lacking = builder.build();
  const auto failed = tools::verify_file({"b.pte", lacking}, nullptr);
  ASSERT_GE(failed.size(), 3u);
  EXPECT_THAT(failed[2].error, HasSubstr("1 of 2 constants are missing"));
}

TEST(ForeignPayloadTest, ExplainsTheSourceOpsOfADelegate) {
  tools::InspectOptions options;
  options.task = tools::Task::kExplain;
  options.files = {sample("linear_relu/model.pte")};
  options.etrecords = {sample("linear_relu/etrecord.bin")};
  const std::string text = tools::inspect(options).text;
  EXPECT_THAT(text, HasSubstr("method forward\n  [0] delegate 0: XnnpackBackend executes "));
  EXPECT_THAT(text, HasSubstr("        aten.relu.default  in "));
}

// The file delegate_map.json has one entry for each operator of a Vulkan delegate. The number of
// entries must equal the number of operators that pte_inspect counts.
TEST(ForeignPayloadTest, VulkanOperatorCountMatchesTheDelegateMap) {
  if (corpus_foreign_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_FOREIGN";
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(corpus_foreign_dir())) {
    std::ifstream file(entry.path() / "delegate_map.json");
    if (!file) continue;
    const Json maps = Json::parse(file);
    const Json json = described(entry.path() / "model.pte");
    for (const Json& method : json["methods"]) {
      const Json& map = maps[method["name"].get<std::string>()];
      size_t index = 0;
      for (const auto& [instruction, delegate] : map.items()) {
        if (delegate["name"] == "VulkanBackend") {
          EXPECT_EQ(method["delegates"][index]["payload"]["operators"],
                    delegate["delegate_map"].size())
              << entry.path();
          ++compared;
        }
        ++index;
      }
    }
  }
  EXPECT_GE(compared, 8u);
}

TEST(ForeignPayloadTest, ExplainsEveryFileOfTheCorpus) {
  if (corpus_foreign_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_FOREIGN";
  const std::set<std::string> endings = {".pte", ".ptd", ".pt2", ".etdp", ".vgf", ".tosa", ".mil"};
  for (const fs::path& path : files_below(corpus_foreign_dir(), "")) {
    if (!endings.contains(path.extension().string())) continue;
    const Json json = described(path);
    const std::string text = tools::description_text(json, {});
    EXPECT_THAT(text, Not(HasSubstr("damaged"))) << path;
    EXPECT_THAT(text, Not(HasSubstr("unknown format"))) << path;
    if (!json.contains("methods")) continue;
    for (const Json& method : json["methods"]) {
      for (const Json& delegate : method["delegates"]) {
        if (!delegate.contains("payload")) continue;
        const Json& payload = delegate["payload"];
        EXPECT_TRUE(payload["operators"] != 0 || payload["closed"] != "" ||
                    delegate.contains("program"))
            << path;
      }
    }
  }
}

Json describe_prepared(const fs::path& program) {
  const AlignedBytes bytes = read_file_bytes(program);
  return tools::describe_file({program.string(), bytes, nullptr, /*prepares_delegates=*/true});
}

// Runs a method with random inputs and returns its memory use. Returns nullopt if the run fails.
// Some methods need files or special inputs.
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

// Compares the predicted and the measured memory of delegates, for each method that has delegates
// and can run. Returns the number of these methods.
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
      // The measured packed weights include those of kernels. The prediction leaves these out, so
      // it may be lower if the method has kernels.
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
    for (const fs::path& program : files_below(folder, ".pte")) {
      compared += compare_with_runs(program);
    }
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
