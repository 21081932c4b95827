// Folds batch norms and compares the results of the models before and after.
#include "aot/quantize/prepare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/optimize/evaluate.h"
#include "aot/passes/pipelines.h"
#include "aot/quantize/stored_floats.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

std::vector<float> wave(size_t count, float offset) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = offset + std::sin(static_cast<float>(i));
  return values;
}

TensorData waves(std::vector<int64_t> sizes, float offset = 0) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  return tensor_of(ScalarType::kFloat, std::move(sizes), wave(count, offset));
}

Node* batch_norm(ModelBuilder& build, const std::string& name, Node* x, int64_t channels) {
  const auto module = build.module(name, "torch.nn.modules.batchnorm.BatchNorm2d");
  return build.call("aten.batch_norm.default",
                    {x, build.parameter("weight", waves({channels}, 1.5F)),
                     build.parameter("bias", waves({channels})),
                     build.buffer("running_mean", waves({channels}, 0.25F)),
                     build.buffer("running_var", waves({channels}, 2)), false, 0.1, 1e-5, false});
}

Node* convolution(ModelBuilder& build, const std::string& name, Node* x, int64_t channels) {
  const auto module = build.module(name, "torch.nn.modules.conv.Conv2d");
  const int64_t in = x->tensor()->sizes[1].value();
  return build.call("aten.conv2d.default",
                    {x, build.parameter("weight", waves({channels, in, 3, 3}))});
}

std::vector<std::vector<float>> results_of(const ExportedProgram& program,
                                           const TensorData& input) {
  ExportedProgram copy = program.copy();
  to_edge(copy);
  std::vector<std::vector<float>> results;
  for (const TensorData& output : evaluate(copy, {&input, 1})) results.push_back(floats_of(output));
  return results;
}

// Folds the batch norms of the program and expects the same results. Returns the number of batch
// norms left.
int64_t norms_after_folding(ExportedProgram program, const TensorData& input) {
  const auto expected = results_of(program, input);
  fold_batch_norms_into_layers(program);
  const auto found = results_of(program, input);
  EXPECT_EQ(found.size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    for (size_t i = 0; i < expected[k].size(); ++i) {
      EXPECT_NEAR(found[k][i], expected[k][i], 1e-4F * (1 + std::abs(expected[k][i])));
    }
  }
  return std::ranges::count(calls(program), "batch_norm");
}

const TensorData kImage = waves({1, 2, 5, 5});

TEST(FoldBatchNorms, FoldsNormsIntoConvolutions) {
  Net build({1, 2, 5, 5});
  ExportedProgram program =
      build.finish({batch_norm(build, "bn", convolution(build, "c", build.x, 4), 4)});
  EXPECT_EQ(norms_after_folding(program.copy(), kImage), 0);
  fold_batch_norms_into_layers(program);
  EXPECT_TRUE(program.state_dict.contains("c.weight_bias"));
  EXPECT_FALSE(program.state_dict.contains("bn.weight"));
}

TEST(FoldBatchNorms, FoldsTwoNormsInARow) {
  Net build({1, 2, 5, 5});
  Node* x = batch_norm(build, "bn", convolution(build, "c", build.x, 4), 4);
  EXPECT_EQ(norms_after_folding(build.finish({batch_norm(build, "bn2", x, 4)}), kImage), 0);
}

TEST(FoldBatchNorms, KeepsNormIfAnotherCallReadsTheConvolution) {
  Net build({1, 2, 5, 5});
  Node* x = convolution(build, "c", build.x, 4);
  Node* norm = batch_norm(build, "bn", x, 4);
  EXPECT_EQ(norms_after_folding(build.finish({norm, x}), kImage), 1);
}

TEST(FoldBatchNorms, CopiesWeightThatIsFoldedWithTwoNorms) {
  Net build({1, 2, 5, 5});
  Node* first = batch_norm(build, "bn", convolution(build, "c", build.x, 4), 4);
  Node* second = batch_norm(build, "other", convolution(build, "c", build.x, 4), 4);
  EXPECT_EQ(norms_after_folding(build.finish({first, second}), kImage), 0);
}

TEST(FoldBatchNorms, ModuleCalledTwiceKeepsSharedWeights) {
  Net build({1, 2, 5, 5});
  Node* first = batch_norm(build, "bn", convolution(build, "c", build.x, 4), 4);
  Node* second = batch_norm(build, "bn", convolution(build, "c", build.x, 4), 4);
  ExportedProgram program = build.finish({first, second});
  EXPECT_EQ(norms_after_folding(program.copy(), kImage), 0);
  fold_batch_norms_into_layers(program);
  EXPECT_EQ(program.state_dict.size(), 2U);
}

TEST(FoldBatchNorms, FoldsNormsIntoGroupedTransposedConvolutions) {
  Net build({1, 2, 5, 5});
  Node* weight = build.parameter("weight", waves({2, 3, 3, 3}));
  Node* x = build.call("aten.conv_transpose2d.input",
                       {build.x, weight, Argument(), std::vector<int64_t>{1, 1},
                        std::vector<int64_t>{0, 0}, std::vector<int64_t>{0, 0}, 2});
  EXPECT_EQ(norms_after_folding(build.finish({batch_norm(build, "bn", x, 6)}), kImage), 0);
}

TEST(FoldBatchNorms, FoldsNormsIntoLinearLayersWithMatrixInputs) {
  Net build({3, 4});
  Node* x = build.call("aten.linear.default", {build.x, build.parameter("weight", waves({5, 4}))});
  EXPECT_EQ(norms_after_folding(build.finish({batch_norm(build, "bn", x, 5)}), waves({3, 4})), 0);
}

TEST(StoreScalars, StoresOnlyScalarsCombinedWithFloatTensors) {
  Net build({4});
  Node* ids = build.input("ids", ScalarType::kLong, {4});
  ExportedProgram program = build.finish({build.call("aten.add.Tensor", {build.x, 2}),
                                          build.call("aten.mul.Tensor", {build.x, 0.5}),
                                          build.call("aten.add.Tensor", {ids, 1})});
  store_scalars(program);
  ASSERT_EQ(program.constants.size(), 2U);
  EXPECT_EQ(floats_of(program.constants.at("_tensor_constant_0")), std::vector<float>{2});
  EXPECT_EQ(floats_of(program.constants.at("_tensor_constant_1")), std::vector<float>{0.5F});
}

}  // namespace
}  // namespace vitrine::aot
