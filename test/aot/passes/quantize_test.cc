// Quantizes the weights of small models, and of a trained model that torchao also quantized.
#include "aot/passes/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/import/pt2.h"
#include "aot/passes/passes.h"
#include "examples/models/layers.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/corpus.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WeightScheme kFour = {.bits = 4, .group = 8};

QuantizeResult quantize_checked(ExportedProgram& program, const QuantizeOptions& options) {
  QuantizeResult result = quantize(program, options);
  lint(program);
  return result;
}

ExportedProgram linear_program(int64_t columns = 16) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, build.dynamic_size(1, 5), columns});
  return build.finish({nn::linear(build, "fc", x, 3)});
}

const std::vector<std::string> kQuantizedLinear = {
    "choose_qparams_affine", "getitem",           "getitem", "quantize_affine",
    "dequantize_affine",     "dequantize_affine", "linear"};

TEST(Quantize, LinearLayersMatchTheGraphThatTorchaoExports) {
  ExportedProgram program = linear_program();
  const QuantizeResult result = quantize_checked(program, {.linears = kFour});
  EXPECT_EQ(result.linears, 1U);
  EXPECT_THAT(result.skipped, IsEmpty());
  EXPECT_EQ(calls(program), kQuantizedLinear);
  const Node& call = last_call(program);
  EXPECT_EQ(call.args().size(), 3U);
  const Node* weight = call.args()[1].node();
  EXPECT_EQ(format_argument(
                Argument::list(ArgumentList(weight->args().begin() + 4, weight->args().end()))),
            "[torch.int8, -8, 7]");
  EXPECT_EQ(format_argument(*weight->arg(1)), "[1, 8]");
  const Node* tokens = call.args()[0].node();
  EXPECT_EQ(format_argument(*tokens->arg(1)), "[1, 1, 16]");
  EXPECT_EQ(to_text(*tokens->args()[2].node()->tensor()), "f32[1, s0]");
  EXPECT_EQ(tokens->meta.origin, call.meta.origin);
  std::vector<std::string> weights;
  for (const auto& [name, data] : program.state_dict) weights.push_back(name);
  EXPECT_THAT(weights, ElementsAre("fc.bias", "fc.parametrizations.weight.original0",
                                   "fc.parametrizations.weight.original1",
                                   "fc.parametrizations.weight.original2"));
}

TEST(Quantize, EmbeddingsCallQuantizedOperators) {
  struct Row {
    int bits;
    int64_t group;
    const char* call;
    const char* values;
    const char* scales;
  };
  for (const Row& row : {Row{2, 8, "embedding_2bit.dtype", "u8[10, 4]", "f32[10, 2]"},
                         Row{4, 8, "embedding_4bit.dtype", "u8[10, 8]", "f32[10, 2]"},
                         Row{8, 0, "embedding_byte.dtype", "i8[10, 16]", "f32[10]"}}) {
    ModelBuilder build("Net");
    Node* ids = build.input("ids", ScalarType::kLong, {1, 4});
    ExportedProgram program = build.finish({nn::embedding(build, "tok", ids, 10, 16)});
    const QuantizeResult result =
        quantize_checked(program, {.embeddings = WeightScheme{row.bits, row.group}});
    EXPECT_EQ(result.embeddings, 1U);
    EXPECT_THAT(calls(program), ElementsAre(row.call));
    const Node& call = last_call(program);
    EXPECT_EQ(to_text(*call.args()[0].node()->tensor()), row.values);
    EXPECT_EQ(to_text(*call.args()[1].node()->tensor()), row.scales);
    EXPECT_EQ(call.args()[4].get<int64_t>()[0], (1 << (row.bits - 1)) - 1);
    EXPECT_TRUE(program.state_dict.contains("tok.weight"));
    EXPECT_TRUE(program.state_dict.contains("tok.scales"));
    EXPECT_EQ(program.state_dict.size(), 2U);
  }
}

ExportedProgram tied_program() {
  ModelBuilder build("Net");
  Node* ids = build.input("ids", ScalarType::kLong, {1, 4});
  const auto module = build.module("tok", "torch.nn.modules.sparse.Embedding");
  Node* weight = build.parameter("weight", {10, 16});
  Node* x = build.call("aten.embedding.default", {weight, ids});
  return build.finish({build.call("aten.linear.default", {x, weight})});
}

TEST(Quantize, TiedWeightIsQuantizedForEachKindOfUse) {
  ExportedProgram program = tied_program();
  const WeightScheme row = {.bits = 8, .group = 0};
  const QuantizeResult result = quantize_checked(program, {.linears = kFour, .embeddings = row});
  EXPECT_EQ(result.linears, 1U);
  EXPECT_EQ(result.embeddings, 1U);
  EXPECT_EQ(calls(program).front(), "embedding_byte.dtype");
  EXPECT_EQ(program.state_dict.size(), 5U);
  EXPECT_EQ(program.state_dict.at("tok.weight").dtype, ScalarType::kChar);
}

TEST(Quantize, TiedWeightKeepsFloatCopyForUnquantizedUses) {
  ExportedProgram program = tied_program();
  quantize_checked(program, {.embeddings = kFour});
  EXPECT_THAT(calls(program), ElementsAre("embedding_4bit.dtype", "linear"));
  EXPECT_EQ(program.state_dict.at("tok.weight").dtype, ScalarType::kFloat);
  EXPECT_EQ(program.state_dict.at("tok.weight_quantized").dtype, ScalarType::kByte);
  ExportedProgram other = tied_program();
  quantize_checked(other, {.linears = kFour});
  EXPECT_EQ(calls(other).front(), "embedding");
  EXPECT_EQ(other.state_dict.size(), 4U);
}

TEST(Quantize, LayersWithTheSameWeightShareItsQuantizedForm) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 16});
  Node* weight = build.parameter("weight", {16, 16});
  x = build.call("aten.linear.default", {x, weight});
  ExportedProgram program = build.finish({build.call("aten.linear.default", {x, weight})});
  EXPECT_EQ(quantize_checked(program, {.linears = kFour}).linears, 2U);
  EXPECT_EQ(program.state_dict.size(), 3U);
}

TEST(Quantize, F16ModelsComputeInF16) {
  Net build({2, 16}, ScalarType::kHalf);
  Node* weight = build.parameter(
      "weight", make_tensor_data(ScalarType::kHalf, {4, 16}, std::vector<std::byte>(128)));
  ExportedProgram program = build.finish({build.call("aten.linear.default", {build.x, weight})});
  quantize_checked(program, {.linears = kFour});
  const Node& call = last_call(program);
  for (const Argument& arg : call.args()) {
    EXPECT_EQ(arg.node()->tensor()->dtype, ScalarType::kHalf);
    EXPECT_EQ(format_argument(*arg.node()->kwarg("output_dtype")), "torch.float16");
  }
}

TEST(Quantize, ReportsSkippedLinearLayers) {
  Net build({2, 16});
  Node* low = nn::linear(build, "lora_a", build.x, 12, false);
  Node* high = nn::linear(build, "up", low, 16, false);
  ExportedProgram program = build.finish({nn::linear(build, "fc", high, 4)});
  const QuantizeResult result = quantize_checked(program, {.linears = kFour});
  EXPECT_EQ(result.linears, 1U);
  EXPECT_THAT(result.skipped,
              ElementsAre("lora_a.weight: it is a LoRA adapter",
                          "up.weight: its row length 12 is not a multiple of the group size 8"));
}

TEST(Quantize, RejectsQuantizedWeightsAndUnsupportedRowLengths) {
  ExportedProgram program = linear_program();
  quantize(program, {.linears = kFour});
  EXPECT_ERROR(AotError, quantize(program, {.linears = kFour}), "its weight is already quantized");

  const auto embed = [](int64_t features) {
    ModelBuilder build("Net");
    Node* ids = build.input("ids", ScalarType::kLong, {1, 4});
    return build.finish({nn::embedding(build, "tok", ids, 10, features)});
  };
  ExportedProgram quantized = embed(16);
  quantize(quantized, {.embeddings = kFour});
  EXPECT_ERROR(AotError, quantize(quantized, {.embeddings = kFour}),
               "its weight is already quantized");
  ExportedProgram narrow = embed(12);
  EXPECT_ERROR(AotError, quantize(narrow, {.embeddings = kFour}),
               "the row length 12 is not a multiple of the group size 8");
}

// The layer's weight is also its input.
TEST(Quantize, DoesNotQuantizeAWeightThatIsAlsoTheInput) {
  ModelBuilder build("Net");
  build.input("x", ScalarType::kFloat, {16, 16});
  Node* weight = build.parameter("weight", {16, 16});
  ExportedProgram program = build.finish({build.call("aten.linear.default", {weight, weight})});
  EXPECT_EQ(quantize_checked(program, {.linears = kFour}).linears, 0U);
}

TEST(Quantize, TrainedModelMatchesWeightsAndCallsOfTorchao) {
  VITRINE_NEEDS_CORPUS_LLM();
  ExportedProgram program = import_pt2(test::corpus_llm_dir() / "kjv_f32/model.pt2");
  const ExportedProgram stock = import_pt2(test::corpus_llm_dir() / "kjv_8da4w/model.pt2");
  const WeightScheme scheme = {.bits = 4, .group = 32};
  const QuantizeResult result =
      quantize_checked(program, {.linears = scheme, .embeddings = scheme});
  EXPECT_EQ(result.linears, 29U);
  EXPECT_EQ(result.embeddings, 1U);
  ASSERT_EQ(program.state_dict.size(), stock.state_dict.size());
  for (const auto& [name, expected] : stock.state_dict) {
    ASSERT_TRUE(program.state_dict.contains(name)) << name;
    const TensorData& made = program.state_dict.at(name);
    EXPECT_EQ(made.dtype, expected.dtype) << name;
    EXPECT_EQ(made.sizes, expected.sizes) << name;
    EXPECT_TRUE(row_major_bytes(made) == row_major_bytes(expected)) << name;
  }
  EXPECT_EQ(calls(program), calls(stock));
}

}  // namespace
}  // namespace vitrine::aot
