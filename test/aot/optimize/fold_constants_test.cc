#include "aot/optimize/fold_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/optimize/evaluate.h"
#include "examples/models/layers.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;

// linear is lowered to addmm with a transposed weight.
TEST(FoldConstants, ComputesCallsThatReadOnlyWeights) {
  Net build({1, 2});
  Node* weight = build.parameter("weight", floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  Node* bias = build.parameter("bias", floats({3}, {0, 1, 2}));
  ExportedProgram program =
      edge_program(build, {build.call("aten.linear.default", {build.x, weight, bias})});
  EXPECT_THAT(calls(program), Contains("permute_copy").Times(1));
  EXPECT_EQ(fold_constants(program), 1U);
  EXPECT_THAT(calls(program), Contains("permute_copy").Times(0));
  EXPECT_THAT(calls(program), Contains("addmm").Times(1));
  EXPECT_EQ(values_of(program.constants.at("_prop_tensor_constant0")), (Values{1, 3, 5, 2, 4, 6}));
  EXPECT_FALSE(program.state_dict.contains("weight"));
  EXPECT_TRUE(program.state_dict.contains("bias"));
  const std::vector<TensorData> inputs = {floats({1, 2}, {1, 10})};
  EXPECT_EQ(values_of(evaluate(program, inputs)[0]), (Values{21, 44, 67}));
}

TEST(FoldConstants, KeepsCallsThatReadInputsOrMutatedBuffers) {
  Net build({2});
  Node* state = build.buffer("state", floats({2}, {1, 2}));
  Node* doubled = build.call("aten.mul.Tensor", {state, state});
  Node* sum = build.call("aten.add.Tensor", {build.x, doubled});
  build.call("aten.copy_.default", {state, sum});
  ExportedProgram program = edge_program(build, {sum});
  EXPECT_EQ(fold_constants(program), 0U);
  EXPECT_THAT(calls(program), Contains("mul.Tensor").Times(1));
}

// Backends that compute in int8 need the original int8 weight and its dequantize call.
TEST(FoldConstants, KeepsQuantizationOnRequest) {
  const auto made = [] {
    Net build({2});
    Node* weight = build.parameter(
        "weight", make_tensor_data(ScalarType::kChar, {2}, {std::byte{2}, std::byte{4}}));
    Node* real = build.call("quantized_decomposed.dequantize_per_tensor.default",
                            {weight, 0.5, 0, -128, 127, ScalarType::kChar});
    return edge_program(build, {build.call("aten.mul.Tensor", {build.x, real})});
  };
  ExportedProgram kept = made();
  FoldOptions options;
  options.keep_quantization = true;
  EXPECT_EQ(fold_constants(kept, options), 0U);
  ExportedProgram folded = made();
  EXPECT_EQ(fold_constants(folded), 1U);
}

TEST(FoldConstants, KeepsCallsWithLargeResults) {
  const auto repeated = [](int64_t times) {
    ModelBuilder build("Net");
    Node* row = build.parameter("row", floats({2}, {1, 2}));
    Node* all = build.call("aten.repeat.default", {row, Dims{times}});
    return edge_program(build, {build.call("aten.neg.default", {all})});
  };
  ExportedProgram large = repeated(1 << 20);
  EXPECT_EQ(fold_constants(large), 0U);
  ExportedProgram small = repeated(3);
  EXPECT_EQ(fold_constants(small), 2U);
  EXPECT_EQ(values_of(evaluate(small)[0]), (Values{-1, -2, -1, -2, -1, -2}));
}

// The mask is folded, because it depends only on calls without tensor inputs. Such calls are not
// folded themselves, so `ones` stays for its user `add`.
TEST(FoldConstants, FoldsMasksComputedFromConstants) {
  Net build({3, 3});
  Node* ones = build.call("aten.ones.default", {Dims{3, 3}});
  Node* mask = build.call("aten.tril.default", {ones});
  ExportedProgram program = edge_program(build, {build.call("aten.mul.Tensor", {build.x, mask}),
                                                 build.call("aten.add.Tensor", {build.x, ones})});
  EXPECT_GT(fold_constants(program), 3U);
  EXPECT_THAT(calls(program), Contains("where.self").Times(0));
  EXPECT_THAT(calls(program), Contains("full").Times(1));
  const std::vector<TensorData> inputs = {floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
  EXPECT_EQ(values_of(evaluate(program, inputs)[0]), (Values{1, 0, 0, 4, 5, 0, 7, 8, 9}));
}

}  // namespace
}  // namespace vitrine::aot
