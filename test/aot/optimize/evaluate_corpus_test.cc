// Lowers programs in training IR, runs them with our kernels, and compares the results with
// PyTorch's. This tests decompositions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/optimize/evaluate.h"
#include "aot/optimize/fold_constants.h"
#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Reads a tensor whose shape and file are in `value`.
TensorData read_tensor(const fs::path& folder, ScalarType dtype, const json& value) {
  const std::string text = vitrine::test::read_text(folder / value["file"].get<std::string>());
  const auto bytes = std::as_bytes(std::span(text));
  return make_tensor_data(dtype, value["shape"].get<std::vector<int64_t>>(),
                          {bytes.begin(), bytes.end()});
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
    inputs.push_back(read_tensor(folder, node->tensor()->dtype, value));
  }
  return inputs;
}

void expect_close(const TensorData& found, const TensorData& expected, double rtol, double atol) {
  ASSERT_EQ(found.storage.size(), expected.storage.size());
  if (is_complex(found.dtype)) {
    EXPECT_TRUE(std::ranges::equal(found.storage, expected.storage));
    return;
  }
  ASSERT_EQ(found.sizes, expected.sizes);
  const Values a = values_of(found);
  const Values b = values_of(expected);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ASSERT_LE(std::abs(a[i] - b[i]), atol + rtol * std::abs(b[i])) << "element " << i;
  }
}

void evaluate_corpus(const char* folder_name, bool is_folded, size_t min_calls) {
  VITRINE_NEEDS_CORPUS();
  size_t run = 0;
  for (const auto& entry : fs::directory_iterator(test::corpus_dir() / folder_name)) {
    const fs::path folder = entry.path();
    const fs::path file = folder / "model.pt2";
    if (!fs::exists(file) || !fs::exists(folder / "case.json")) continue;
    const json info = vitrine::test::read_json(folder / "case.json");
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
          const TensorData& result = found[next++];
          expect_close(result, read_tensor(folder, result.dtype, value), info["tolerance"]["rtol"],
                       info["tolerance"]["atol"]);
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
