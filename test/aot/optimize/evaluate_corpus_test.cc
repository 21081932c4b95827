// Lowers programs in training IR, runs them with our kernels, and compares the results with
// PyTorch's. This tests decompositions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/optimize/evaluate.h"
#include "aot/optimize/fold_constants.h"
#include "aot/passes/pipelines.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::byte> read_file(const fs::path& file) {
  const std::string text = vitrine::test::read_text(file);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

double element(const TensorData& data, size_t index) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, data.storage.data() + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  switch (data.dtype) {
    case ScalarType::kFloat:
      return read(float{});
    case ScalarType::kDouble:
      return read(double{});
    case ScalarType::kLong:
      return read(int64_t{});
    case ScalarType::kInt:
      return read(int32_t{});
    case ScalarType::kShort:
      return read(int16_t{});
    case ScalarType::kChar:
      return read(int8_t{});
    case ScalarType::kByte:
    case ScalarType::kBool:
      return read(uint8_t{});
    case ScalarType::kHalf:
      return static_cast<double>(static_cast<float>(
          *reinterpret_cast<const Half*>(data.storage.data() + index * sizeof(Half))));
    case ScalarType::kBFloat16:
      return static_cast<double>(static_cast<float>(
          *reinterpret_cast<const BFloat16*>(data.storage.data() + index * sizeof(BFloat16))));
    default:
      return std::nan("");
  }
}

TensorData file_data(const fs::path& file, const TensorSpec& spec, const json& value) {
  return make_tensor_data(spec.dtype, value["shape"].get<std::vector<int64_t>>(), read_file(file));
}

// Reads the input tensors of a call. Sets `is_possible` to false if an input is not a tensor.
std::vector<TensorData> inputs_of(const ExportedProgram& program, const fs::path& folder,
                                  const json& call, bool& is_possible) {
  std::vector<TensorData> inputs;
  size_t next = 0;
  is_possible = true;
  for (const InputSpec& spec : program.signature.inputs) {
    if (spec.kind != InputSpec::Kind::kUserInput) continue;
    const Node* node = program.graph->find(spec.name);
    if (next >= call["inputs"].size()) break;
    const json& value = call["inputs"][next++];
    if (node == nullptr || node->tensor() == nullptr || value["kind"] != "tensor") {
      is_possible = false;
      return {};
    }
    inputs.push_back(file_data(folder / value["file"].get<std::string>(), *node->tensor(), value));
  }
  return inputs;
}

void expect_close(const TensorData& found, const std::vector<std::byte>& expected_bytes,
                  const json& value, double rtol, double atol) {
  ASSERT_EQ(found.storage.size(), expected_bytes.size());
  TensorData expected = found;
  expected.storage = expected_bytes;
  if (is_complex(found.dtype)) {
    EXPECT_TRUE(std::ranges::equal(found.storage, expected.storage));
    return;
  }
  EXPECT_EQ(found.sizes, value["shape"].get<std::vector<int64_t>>());
  for (size_t i = 0; i < static_cast<size_t>(found.numel()); ++i) {
    const double a = element(found, i);
    const double b = element(expected, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    ASSERT_LE(std::abs(a - b), atol + rtol * std::abs(b)) << "element " << i;
  }
}

void evaluate_corpus(const char* folder_name, bool is_folded, size_t min_calls) {
  VITRINE_NEEDS_CORPUS();
  size_t run = 0;
  for (const auto& entry : fs::directory_iterator(test::corpus_dir() / folder_name)) {
    const fs::path folder = entry.path();
    const fs::path file = folder / "model.pt2";
    if (!fs::exists(file) || !fs::exists(folder / "case.json")) continue;
    std::ifstream stream(folder / "case.json");
    const json info = json::parse(stream);
    const std::string name = folder.filename().string();
    // Skips models that were quantized by another package, and operators whose results are random
    // or uninitialized.
    if (!info["quantization"].is_null() || name.starts_with("rand") || name.starts_with("empty")) {
      continue;
    }
    if (info.value("stateful", false) || info["calls"].size() > 3) continue;
    SCOPED_TRACE(folder.string());
    try {
      ExportedProgram program = import_pt2(file);
      to_edge(program);
      if (is_folded) fold_constants(program);
      for (const json& call : info["calls"]) {
        if (call.value("method", "forward") != "forward") continue;
        bool is_possible = false;
        const std::vector<TensorData> inputs = inputs_of(program, folder, call, is_possible);
        if (!is_possible) continue;
        const std::vector<TensorData> found = evaluate(program, inputs);
        size_t next = 0;
        for (const json& value : call["outputs"]) {
          if (value["kind"] != "tensor") break;
          ASSERT_LT(next, found.size());
          expect_close(found[next++], read_file(folder / value["file"].get<std::string>()), value,
                       info["tolerance"]["rtol"], info["tolerance"]["atol"]);
        }
        ++run;
      }
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf("%zu calls have PyTorch's results\n", run);
  EXPECT_GE(run, min_calls);
}

TEST(EvaluateCorpus, OperatorsMatchPyTorch) { evaluate_corpus("ops_portable", false, 350); }
TEST(EvaluateCorpus, ModelsMatchPyTorch) { evaluate_corpus("", false, 20); }
TEST(EvaluateCorpus, FoldedModelsMatchPyTorch) { evaluate_corpus("", true, 20); }
TEST(EvaluateCorpus, ModelsFromOlderPyTorchVersionsMatchPyTorch) {
  evaluate_corpus("compat/v0.5.0", false, 20);
}

}  // namespace
}  // namespace vitrine::aot
