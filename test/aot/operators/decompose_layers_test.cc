#include <gtest/gtest.h>

#include <cmath>

#include "aot/passes/pipelines.h"
#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeLayers, ComputesNormsLogSumExpsCosinesAndDeviations) {
  const std::vector<TensorData> x = {floats({2, 3}, {3, -4, 0, 1, -2, 2})};
  const ArgumentList rows = {std::vector<int64_t>{1}};
  const auto norm = [&](Argument order) {
    return run(x, one("aten.linalg_vector_norm.default", {order, rows[0]}))[0];
  };
  expect_near(norm(2), {5, 3});
  expect_near(norm(1), {7, 5});
  expect_near(norm(kInfinity), {4, 2});
  expect_near(norm(-kInfinity), {0, 1});
  expect_near(norm(0), {2, 3});
  expect_near(norm(3), {std::cbrt(91), std::cbrt(17)});
  expect_near(run(x, one("aten.logsumexp.default", {rows[0]}))[0],
              {std::log(std::exp(3) + std::exp(-4) + 1),
               std::log(std::exp(1) + std::exp(-2) + std::exp(2))});
  expect_near(run({floats({1, 2}, {kInfinity, 1})}, one("aten.logsumexp.default", {rows[0]}))[0],
              {kInfinity});
  expect_near(run({floats({1, 2}, {3, 4}), floats({1, 2}, {4, 3})},
                  one("aten.cosine_similarity.default"))[0],
              {24.0 / 25});
  expect_near(run(x, one("aten.std.correction", {rows[0]}, {{"correction", 0}}))[0],
              {std::sqrt(74.0 / 9), std::sqrt(26.0 / 9)});
}

TEST(DecomposeLayers, ConvolutionAcceptsPaddingModeSame) {
  const std::vector<TensorData> inputs = {floats({1, 1, 4}, {1, 2, 3, 4}),
                                          floats({1, 1, 2}, {1, 10})};
  const ArgumentList rest = {Argument(), std::vector<int64_t>{1}, "same"};
  expect_near(run(inputs, one("aten.conv1d.padding", rest))[0], {21, 32, 43, 4});
}

// The expected values are (x - mean) / deviation, computed for each row.
TEST(DecomposeLayers, NormalizesBatchesOfSymbolicSize) {
  ModelBuilder build("Net");
  const SymInt batch = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {batch, 1, 4});
  const TensorSpec pairs = contiguous_spec(ScalarType::kFloat, {batch, 1, 2});
  TensorSpec indices = pairs;
  indices.dtype = ScalarType::kLong;
  // The program does not use the indices, and decomposition must not read the batch size from them.
  Node* pool = build.call_as("aten.adaptive_max_pool1d.default", {x, std::vector<int64_t>{2}}, {},
                             Value::Items{pairs, indices});
  build.item(pool, 1);
  Node* maxima = build.item(pool, 0);
  Node* by_instance = build.call_as(
      "aten.instance_norm.default",
      {maxima, Argument(), Argument(), Argument(), Argument(), true, 0.1, 0.0, false}, {}, pairs);
  Node* by_group = build.call_as("aten.group_norm.default", {x, 1, Argument(), Argument(), 0.0}, {},
                                 *x->tensor());
  ExportedProgram program = build.finish({by_instance, by_group});
  to_edge(program);
  const std::vector<TensorData> inputs = {floats({2, 1, 4}, {0, 1, 3, 2, 8, 4, 2, 6})};
  const std::vector<TensorData> results = evaluate(program, inputs);
  expect_near(results[0], {-1, 1, 1, -1});
  const double a = std::sqrt(1.25);
  const double b = std::sqrt(5.0);
  expect_near(results[1], {-1.5 / a, -0.5 / a, 1.5 / a, 0.5 / a, 3 / b, -1 / b, -3 / b, 1 / b});
}

TEST(DecomposeLayers, UnbatchedConvolutionEqualsBatchOfOne) {
  const TensorData weight = seeded_weights("w", 2, {3, 2, 2, 2}, 1);
  const TensorData image = seeded_weights("x", 1, {2, 4, 4}, 1);
  const TensorData batch = floats({1, 2, 4, 4}, values_of(image));
  expect_near(run({image, weight}, one("aten.conv2d.default"))[0],
              values_of(run({batch, weight}, one("aten.conv2d.default"))[0]));
  const TensorData transposed = seeded_weights("w", 2, {2, 3, 2, 2}, 1);
  expect_near(run({image, transposed}, one("aten.conv_transpose2d.input"))[0],
              values_of(run({batch, transposed}, one("aten.conv_transpose2d.input"))[0]));
}

TEST(DecomposeLayers, BatchNormWithoutRunningStatisticsUsesInputStatistics) {
  const TensorData x = floats({2, 2, 1}, {1, 10, 3, 30});
  const auto arguments = [](const Nodes& in) {
    return ArgumentList{in[0], Argument(), Argument(), Argument(), Argument(),
                        true,  0.1,        0.0,        false};
  };
  expect_near(lowered("aten.batch_norm.default", {x}, arguments, {2, 2, 1}), {-1, -1, 1, 1});
}

}  // namespace
}  // namespace vitrine::aot
