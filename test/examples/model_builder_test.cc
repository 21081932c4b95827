// Compares built models with the same models from torch.export.
#include "examples/models/model_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/import/pt2.h"
#include "aot/optimize/evaluate.h"
#include "aot/passes/pipelines.h"
#include "examples/models/layers.h"
#include "examples/models/mobilenet_v2.h"
#include "examples/models/quantized_mlp.h"
#include "examples/models/seeded_weights.h"
#include "examples/models/transformer.h"
#include "test/aot/passes/pte_instructions.h"
#include "test/support/corpus.h"
#include "test/support/expect_error.h"
#include "test/support/program_builder.h"
#include "test/support/read_text.h"

namespace vitrine::aot {
namespace {

std::string line_of(const Node& node) {
  std::string line = format_node(node);
  line += node.tensor() == nullptr ? "" : " " + to_text(*node.tensor());
  if (node.meta.origin != nullptr) {
    for (const ModuleStackEntry& entry : node.meta.origin->module_stack) {
      line += "\n  " + entry.key + " " + entry.path + " " + entry.type_name;
    }
  }
  return line;
}

TEST(MobileNetV2, GraphMatchesTorchvision) {
  VITRINE_CORPUS_CASE(folder, "mv2_025_portable");
  const ExportedProgram expected = import_pt2(folder / "model.pt2");
  const ExportedProgram built =
      examples::mobilenet_v2({.width = 0.25, .image_size = 128, .classes = 100});
  auto ours = built.graph->nodes().begin();
  for (const Node& theirs : expected.graph->nodes()) {
    ASSERT_NE(ours, built.graph->nodes().end());
    EXPECT_EQ(line_of(*ours), line_of(theirs));
    ++ours;
  }
  EXPECT_EQ(ours, built.graph->nodes().end());
  ASSERT_EQ(built.signature.inputs.size(), expected.signature.inputs.size());
  for (size_t i = 0; i < built.signature.inputs.size(); ++i) {
    EXPECT_EQ(built.signature.inputs[i].kind, expected.signature.inputs[i].kind);
    EXPECT_EQ(built.signature.inputs[i].target, expected.signature.inputs[i].target);
  }
}

TEST(MobileNetV2, EdgeGraphMatchesExecuTorch) {
  VITRINE_CORPUS_CASE(folder, "mv2_portable");
  ExportedProgram program = examples::mobilenet_v2();
  to_edge(program);
  const std::string expected = vitrine::test::read_text(folder / "delegated_graph.txt");
  const std::string found =
      std::regex_replace(format_graph(*program.graph), std::regex("\n    "), "\n  ") + "\n";
  EXPECT_EQ(found, expected);
  to_executable(program);
  EXPECT_EQ(test::graph_instructions(*program.graph),
            test::pte_instructions(folder / "model.pte").at("forward"));
}

// Returns the calls of an int8 model. Leaves out dequantize calls, because their order may differ.
std::vector<std::string> calls_of(const ExportedProgram& program) {
  std::vector<std::string> calls;
  for (const Node& node : program.graph->nodes()) {
    if (!node.is_call() || node.target().op().starts_with("dequantize")) continue;
    calls.push_back(node.target().name());
    if (node.tensor() != nullptr) calls.back() += " " + to_text(*node.tensor());
  }
  return calls;
}

TEST(MobileNetV2, QuantizedGraphMatchesPyTorch) {
  VITRINE_CORPUS_CASE(folder, "mv2_xnnpack_q8");
  const ExportedProgram built = examples::mobilenet_v2({.quantized = true});
  const ExportedProgram expected = import_pt2(folder / "model.pt2");
  EXPECT_EQ(calls_of(built), calls_of(expected));
  EXPECT_EQ(built.graph->nodes().size(), expected.graph->nodes().size());
}

TEST(ModelBuilder, RecordsModulesAndSourceLines) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 8});
  x = nn::linear(build, "fc", x, 4);
  const int line = __LINE__ + 1;
  x = build.call("aten.relu.default", {x});
  const ExportedProgram program = build.finish({x});
  const Node* linear = program.graph->find("linear");
  ASSERT_NE(linear, nullptr);
  ASSERT_EQ(linear->meta.origin->module_stack.size(), 2U);
  EXPECT_EQ(linear->meta.origin->module_stack[1].path, "fc");
  EXPECT_EQ(linear->meta.origin->module_stack[1].key, "L__self__fc");
  EXPECT_THAT(
      program.graph->find("relu")->meta.origin->stack_trace,
      vitrine::test::HasSubstrs("examples/model_builder_test.cc", "line " + std::to_string(line)));
  EXPECT_EQ(program.signature.inputs[0].target, "fc.weight");
  EXPECT_EQ(program.signature.inputs[1].name, "p_fc_bias");
  EXPECT_EQ(program.signature.inputs[2].name, "x");
}

TEST(ModelBuilder, ErrorsNameTheModule) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 8});
  const auto module = build.module("head", "Head");
  Node* weight = build.parameter("weight", {4, 7});
  EXPECT_THAT(
      [&] {
        build.call("aten.linear.default", {x, weight});
      },
      testing::ThrowsMessage<AotError>(
          vitrine::test::HasSubstrs("head (File", "features are 8 and 7; they must be equal")));
}

TEST(ModelBuilder, ReturnsExistingParameterWithTheSameName) {
  ModelBuilder build("Net");
  EXPECT_EQ(build.parameter("weight", {4, 8}), build.parameter("weight", {4, 8}));
}

std::vector<float> floats_of(const TensorData& data) {
  std::vector<float> values(data.storage.size() / sizeof(float));
  std::memcpy(values.data(), data.storage.data(), data.storage.size());
  return values;
}

// If the quantization scales fit the values, the results spread over many integers, rarely
// saturate, and depend on the input.
TEST(MobileNetV2, QuantizedResultsSpreadOutAndRarelySaturate) {
  ExportedProgram program = examples::mobilenet_v2({.image_size = 96, .quantized = true});
  to_edge(program);
  std::vector<std::vector<float>> results;
  for (const uint64_t seed : {1, 2}) {
    const TensorData image = seeded_weights("image", seed, {1, 3, 96, 96}, 1);
    results.push_back(floats_of(evaluate(program, {&image, 1}).at(0)));
  }
  constexpr float kScale = 1.0f / 32;
  double squares = 0;
  double differences = 0;
  size_t saturated = 0;
  for (size_t i = 0; i < results[0].size(); ++i) {
    const float value = results[0][i];
    const auto difference = static_cast<double>(value - results[1][i]);
    squares += static_cast<double>(value * value);
    differences += difference * difference;
    if (value <= -128 * kScale || value >= 127 * kScale) ++saturated;
  }
  const auto count = static_cast<double>(results[0].size());
  EXPECT_GT(std::sqrt(squares / count), 0.3);
  EXPECT_LT(static_cast<double>(saturated), 0.01 * count);
  EXPECT_GT(std::sqrt(differences / squares), 0.1);
}

TEST(ModelBuilder, WeightsAreDeterministic) {
  const examples::MobileNetV2Options options = {.width = 0.25, .image_size = 32, .classes = 10};
  const ExportedProgram a = examples::mobilenet_v2(options), b = examples::mobilenet_v2(options);
  for (const auto& [name, data] : a.state_dict) {
    EXPECT_EQ(row_major_bytes(data), row_major_bytes(b.state_dict.at(name))) << name;
  }
}

TensorData tokens(int64_t batch, int64_t length, int64_t first) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < batch * length; ++i) ids.push_back((first + i) * 7 % 50);
  return make_tensor_data(ScalarType::kLong, {batch, length}, vitrine::test::bytes_of(ids));
}

// With a dynamic batch, each sample has the same result as in a batch of one.
TEST(Transformer, DynamicBatchMatchesSingleSamples) {
  examples::TransformerOptions options;
  options.length = 5;
  options.batch = 4;
  options.dynamic_batch = true;
  ExportedProgram dynamic = examples::transformer_encoder(options);
  to_edge(dynamic);
  options.dynamic_batch = false;
  options.batch = 1;
  ExportedProgram single = examples::transformer_encoder(options);
  to_edge(single);
  for (const int64_t batch : {1, 3, 4}) {
    const std::vector<TensorData> all = {tokens(batch, 5, 0)};
    const std::vector<float> found = floats_of(evaluate(dynamic, all)[0]);
    ASSERT_EQ(found.size(), static_cast<size_t>(batch * 5 * options.features));
    for (int64_t i = 0; i < batch; ++i) {
      const std::vector<TensorData> sample = {tokens(1, 5, i * 5)};
      const std::vector<float> expected = floats_of(evaluate(single, sample)[0]);
      for (size_t j = 0; j < expected.size(); ++j) {
        ASSERT_NEAR(found[static_cast<size_t>(i) * expected.size() + j], expected[j], 1e-5f);
      }
    }
  }
}

TEST(Transformer, DecoderMutatesCaches) {
  ExportedProgram program = examples::cached_decoder();
  to_edge(program);
  const auto mutations = std::ranges::count(program.signature.outputs,
                                            OutputSpec::Kind::kBufferMutation, &OutputSpec::kind);
  EXPECT_EQ(mutations, 4);
  const std::vector<TensorData> inputs = {
      tokens(1, 1, 3),
      make_tensor_data(ScalarType::kLong, {1}, vitrine::test::Bytes(sizeof(int64_t)))};
  const std::vector<float> logits = floats_of(evaluate(program, inputs)[0]);
  ASSERT_EQ(logits.size(), 256U);
  for (const float logit : logits) ASSERT_TRUE(std::isfinite(logit));
}

// Compares the model with the same layers in double precision, rounded to int8 at the same points.
class QuantizedMlp : public testing::TestWithParam<bool> {};

TEST_P(QuantizedMlp, MatchesDoublePrecisionReference) {
  examples::QuantizedMlpOptions options;
  options.dynamic = GetParam();
  options.inputs = 6;
  options.hidden = 5;
  options.outputs = 3;
  ExportedProgram program = examples::quantized_mlp(options);
  const TensorData input = seeded_weights("input", 3, {1, 6}, 1);
  std::vector<double> x;
  for (const float value : floats_of(input)) x.push_back(static_cast<double>(value));
  const auto round_all = [&] {
    double scale = 1.0 / 32;
    double zero = 0;
    if (options.dynamic) {  // the range of x, extended to 0, maps to -128 to 127
      const double min = std::min(0.0, std::ranges::min(x));
      scale = (std::max(0.0, std::ranges::max(x)) - min) / 255;
      zero = -128 - std::nearbyint(min / scale);
    }
    for (double& value : x) {
      value = (std::clamp(std::nearbyint(value / scale) + zero, -128.0, 127.0) - zero) * scale;
    }
  };
  const auto linear = [&](const std::string& layer) {
    const TensorData& weight = program.state_dict.at(layer + ".weight");
    const std::vector<float> scales = floats_of(program.state_dict.at(layer + ".scales"));
    const std::vector<float> bias = floats_of(program.state_dict.at(layer + ".bias"));
    std::vector<double> y;
    for (size_t row = 0; row < bias.size(); ++row) {
      double sum = static_cast<double>(bias[row]);
      for (size_t i = 0; i < x.size(); ++i) {
        const auto number = static_cast<int8_t>(weight.storage[row * x.size() + i]);
        sum += x[i] * number * static_cast<double>(scales[row]);
      }
      y.push_back(sum);
    }
    x = y;
  };
  round_all();
  linear("up");
  for (double& value : x) value = std::max(value, 0.0);
  round_all();
  linear("down");
  if (!options.dynamic) round_all();
  to_edge(program);
  const std::vector<TensorData> inputs = {input};
  const std::vector<float> found = floats_of(evaluate(program, inputs)[0]);
  ASSERT_EQ(found.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(found[i]), x[i], options.dynamic ? 1e-6 : 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Activations, QuantizedMlp, testing::Bool(),
                         [](const auto& dynamic) { return dynamic.param ? "Dynamic" : "Static"; });

}  // namespace
}  // namespace vitrine::aot
