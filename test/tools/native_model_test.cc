// Lowers models of ExecuTorch Native that contain graphs written by ExecuTorch, and compares their
// results with PyTorch's.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/program/program_access.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"
#include "vitrine/data_source.h"
#include "vitrine/flat_tensor.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Writes the named data as a safetensors file.
std::string safetensors(const NamedDataMap& data) {
  nlohmann::ordered_json header;
  std::string content;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string key(data.key(i));
    const DataBuffer bytes = *data.get(key);
    const auto layout = *data.layout(key);
    EXPECT_TRUE(layout.has_value()) << key;
    const size_t begin = content.size();
    content += text_of(bytes.bytes());
    const bool is_long = layout->dtype == ScalarType::kLong;
    EXPECT_TRUE(is_long || layout->dtype == ScalarType::kFloat) << key;
    header[key] = {{"dtype", is_long ? "I64" : "F32"},
                   {"shape", std::vector<int32_t>(layout->sizes.begin(), layout->sizes.end())},
                   {"data_offsets", {begin, content.size()}}};
  }
  const std::string head = header.dump();
  const uint64_t size = head.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + head + content;
}

// The corpus does not have a .ptn file, so the test makes some: the payloads of the program's two
// NativeBackend delegates are the graphs, and the .ptd file has the weights. The second delegate
// continues with the result of the first.
TEST(NativeModel, LowersGraphsWrittenByExecuTorch) {
  const std::filesystem::path folder = corpus_foreign_dir() / "native_conv_relu_linear";
  if (corpus_foreign_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_FOREIGN";
  const auto program = *Program::load(*map_file((folder / "model.pte").c_str()));
  const auto weights = *load_flat_tensor(*map_file((folder / "native_weights.ptd").c_str()));
  const auto& delegates = *ProgramAccess::root(*program).execution_plan()->Get(0)->delegates();
  ASSERT_EQ(delegates.size(), 2U);
  for (const char* backend : {"", " --backend xnnpack"}) {
    const ScratchFolder scratch;
    std::string input = (folder / "input_0.bin").string();
    for (uint32_t i = 0; i < delegates.size(); ++i) {
      const DataBuffer graph = *ProgramAccess::payload(*program, *delegates.Get(i)->processed());
      const std::string model = (scratch / "model.ptn").string();
      tools::write_file(model, write_zip({{"program.ptg", text_of(graph.bytes())},
                                          {"program.safetensors", safetensors(*weights)}}));
      const std::string lowered = (scratch / "model.pte").string();
      succeeded(run_tool(VITRINE_PTE_LOWER, model + backend + " -o " + lowered));
      const std::string output = (scratch / ("output" + std::to_string(i))).string();
      succeeded(run_tool(VITRINE_EXECUTOR_RUNNER,
                         lowered + " --inputs " + input + " --output_file " + output));
      input = output + "-0.bin";
    }
    const std::vector<float> results = read_floats(input);
    const std::vector<float> expected = read_floats((folder / "expected_0.bin").string());
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(results[i], expected[i], 1e-4F + 1e-4F * std::fabs(expected[i]));
    }
  }
}

}  // namespace
}  // namespace vitrine::test
