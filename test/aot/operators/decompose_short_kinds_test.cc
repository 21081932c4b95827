// Tests several kinds of decompositions, with a few tests for each kind. The kinds are in
// alphabetical order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/pointwise.h"

namespace vitrine::aot {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(DecomposeActivations, ElementWiseActivationsMatchTheirFormulas) {
  expect_formulas({
      {"aten.selu.default",
       {},
       [](double x) {
         constexpr double kAlpha = 1.6732632423543772;
         constexpr double kScale = 1.0507009873554805;
         return kScale * (x > 0 ? x : kAlpha * std::expm1(x));
       }},
      {"aten.celu.default", {2.0}, [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
      {"aten.softplus.default",
       {2.0, 10},
       [](double x) { return std::log1p(std::exp(2 * x)) / 2; }},
      {"aten.log_sigmoid.default", {}, [](double x) { return -std::log1p(std::exp(-x)); }},
      {"aten.hardshrink.default", {0.5}, [](double x) { return std::abs(x) > 0.5 ? x : 0; }},
      {"aten.softshrink.default",
       {0.5},
       [](double x) { return x > 0.5    ? x - 0.5
                             : x < -0.5 ? x + 0.5
                                        : 0; }},
      {"aten.threshold.default", {0.5, -7.0}, [](double x) { return x > 0.5 ? x : -7; }},
      {"aten.relu6.default", {}, [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {"aten.silu.default", {}, [](double x) { return x * sigmoid(x); }},
      {"aten.hardsigmoid.default", {}, [](double x) { return std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {"aten.hardswish.default", {}, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {"aten.mish.default", {}, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"aten.logit.default",
       {0.25},
       [](double x) {
         const double p = std::clamp(x, 0.25, 0.75);
         return std::log(p / (1 - p));
       }},
  });
}

TEST(DecomposeActivations, GluMultipliesFirstHalfBySigmoidOfSecondHalf) {
  const TensorData x = floats({2, 4}, {1, 2, 3, 4, -5, 6, 0, -8});
  expect_call("aten.glu.default", {x}, {1}, {2, 2},
              {sigmoid(3), 2 * sigmoid(4), -5 * sigmoid(0), 6 * sigmoid(-8)});
}

TEST(DecomposeActivations, PreluUsesSlopePerChannelAndRreluUsesMeanSlope) {
  const TensorData x = floats({1, 2, 2}, {-1, 2, -3, 4});
  expect_call("aten.prelu.default", {x, floats({2}, {0.5, -2})}, {}, {1, 2, 2}, {-0.5, 2, 6, 4});
  expect_call("aten.rrelu.default", {x}, {0.25, 0.75}, {1, 2, 2}, {-0.5, 2, -1.5, 4});
}

TEST(DecomposeActivations, SoftshrinkKeepsNan) {
  expect_one("aten.softshrink.default", {floats({4}, {kNan, 0.25, 2, -kInfinity})}, {},
             {kNan, 0, 1.5, -kInfinity});
}

TEST(DecomposeArrangements, ReadsAndWritesDiagonals) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_call("aten.diag.default", {floats({2}, {1, 2})}, {1}, {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_call("aten.diag.default", {floats({2}, {1, 2})}, {-1}, {3, 3},
              {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_call("aten.diag.default", {x}, {1}, {2}, {2, 6});
  expect_call("aten.diag_embed.default", {floats({2, 2}, {1, 2, 3, 4})}, {}, {2, 2, 2},
              {1, 0, 0, 2, 3, 0, 0, 4});
  // The result of this call has the dims [column, batch, row].
  expect_call("aten.diag_embed.default", {floats({1, 2}, {1, 2})}, {1, 2, 0}, {3, 1, 3},
              {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_call("aten.diagonal_scatter.default", {x, floats({2}, {8, 9})}, {1}, {2, 3},
              {1, 8, 3, 4, 5, 9});
  expect_call("aten.diagonal_scatter.default", {x, floats({1}, {8})}, {-1}, {2, 3},
              {1, 2, 3, 8, 5, 6});
  expect_call("aten.diagonal_scatter.default", {x, floats({2}, {8, 9})}, {0, 1, 0}, {2, 3},
              {8, 2, 3, 4, 9, 6});
  expect_call("aten.trace.default", {x}, {}, {}, {6});
  expect_call("aten.block_diag.default", {x, floats({1, 2}, {7, 8})}, {Argument::list({"$", "$"})},
              {3, 5}, {1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 7, 8});
}

TEST(DecomposeArrangements, SupportsSplitRotateAndStackOperators) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto piece = [](int64_t size) { return contiguous_spec(ScalarType::kFloat, {2, size}); };
  const Value::Items two = {piece(2), piece(1)};
  expect_near(lowered_item("aten.tensor_split.sections", {x}, {2, 1}, two, 0), {1, 2, 4, 5});
  expect_near(lowered_item("aten.tensor_split.sections", {x}, {2, 1}, two, 1), {3, 6});
  const Value::Items three = {piece(1), piece(1), piece(1)};
  expect_near(lowered_item("aten.hsplit.array", {x}, {Dims{1, -1}}, three, 1), {2, 5});
  expect_call("aten.rot90.default", {x}, {1, Dims{0, 1}}, {3, 2}, {3, 6, 2, 5, 1, 4});
  expect_call("aten.rot90.default", {x}, {-2, Dims{0, 1}}, {2, 3}, {6, 5, 4, 3, 2, 1});
  expect_call("aten.rot90.default", {x}, {3, Dims{0, 1}}, {3, 2}, {4, 1, 5, 2, 6, 3});
  expect_call("aten.fliplr.default", {x}, {}, {2, 3}, {3, 2, 1, 6, 5, 4});
  const TensorData a = floats({2}, {1, 2});
  const TensorData b = floats({3}, {7, 8, 9});
  const ArgumentList both = {Argument::list({"$", "$"})};
  expect_call("aten.cartesian_prod.default", {a, b}, both, {6, 2},
              {1, 7, 1, 8, 1, 9, 2, 7, 2, 8, 2, 9});
  expect_call("aten.column_stack.default", {a, floats({2, 2}, {3, 4, 5, 6})}, both, {2, 3},
              {1, 3, 4, 2, 5, 6});
  expect_call("aten.squeeze.default", {floats({1, 2, 1}, {1, 2})}, {}, {2}, {1, 2});
}

TEST(DecomposeCreation, CreatesSequencesIdentitiesAndIndices) {
  const auto created = [](const char* target, const ArgumentList& args) {
    return run({floats({3}, {0, 0, 0})}, [&](ModelBuilder& build, const Nodes& in) {
      return build.call("aten.add.Tensor", {in[0], build.call(target, args)});
    })[0];
  };
  expect_near(created("aten.linspace.default", {-1, 1, 3}), {-1, 0, 1});
  expect_near(created("aten.linspace.default", {2.0, 3.0, 1}), {2, 2, 2});
  expect_near(created("aten.eye.m", {2, 3}), {1, 0, 0, 0, 1, 0});
  const auto created_as = [](const char* target, const ArgumentList& args, const TensorSpec& spec) {
    const TensorData zero = spec.dtype == ScalarType::kLong ? integers({1}, {0}) : floats({1}, {0});
    return run({zero}, [&](ModelBuilder& build, const Nodes& in) {
      return build.call("aten.add.Tensor", {in[0], build.call_as(target, args, {}, spec)});
    })[0];
  };
  const auto indices = [&](const char* target, const ArgumentList& args, int64_t count) {
    return created_as(target, args, contiguous_spec(ScalarType::kLong, {2, count}));
  };
  expect_near(indices("aten.tril_indices.default", {3, 2}, 5), {0, 1, 1, 2, 2, 0, 0, 1, 0, 1});
  expect_near(indices("aten.tril_indices.default", {3, 3, -1}, 3), {1, 2, 2, 0, 0, 1});
  expect_near(indices("aten.triu_indices.default", {3, 3, 1}, 3), {0, 0, 1, 1, 2, 2});
  expect_near(indices("aten.triu_indices.default", {3, 2, 0}, 3), {0, 0, 1, 0, 1, 1});
  expect_near(
      created_as("aten.logspace.default", {0, 2, 3}, contiguous_spec(ScalarType::kFloat, {3})),
      {1, 10, 100});
  expect_one("aten.one_hot.default", {integers({2}, {2, 0})}, {3}, {0, 0, 1, 1, 0, 0});
}

TEST(DecomposeEinsum, ComputesSumsOfProducts) {
  const TensorData a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData b = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto einsum = [](const char* equation, const std::vector<TensorData>& inputs,
                         std::vector<SymInt> sizes) {
    const Argument operands = Argument::list(ArgumentList(inputs.size(), "$"));
    return lowered("aten.einsum.default", inputs, {equation, operands}, std::move(sizes));
  };
  expect_near(einsum("ij,jk->ik", {a, b}, {2, 2}), {22, 28, 49, 64});
  expect_near(einsum("ij,jk", {a, b}, {2, 2}), {22, 28, 49, 64});
  expect_near(einsum("ij->ji", {a}, {3, 2}), {1, 4, 2, 5, 3, 6});
  expect_near(einsum("ij->", {a}, {}), {21});
  expect_near(einsum("...j->...", {a}, {2}), {6, 15});
  // einsum sums over all dims that the result lacks. This includes dims of only one operand (i and
  // j in "ij,k->k") and the dims of an ellipsis (in "...ik,...j->ij").
  expect_near(einsum("ij,k->k", {a, floats({2}, {1, 10})}, {2}), {21, 210});
  expect_near(einsum("...ik,...j->ij",
                     {floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}), floats({2}, {1, 10})}, {2, 2}),
              {6, 60, 15, 150});
  expect_near(einsum("ij,ij->i", {a, a}, {2}), {14, 77});
  expect_near(einsum("ii->i", {floats({2, 2}, {1, 2, 3, 4})}, {2}), {1, 4});
  expect_near(einsum("ii", {floats({2, 2}, {1, 2, 3, 4})}, {}), {5});
  expect_near(
      einsum("iji,j->i",
             {floats({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), floats({3}, {1, 2, 3})},
             {2}),
      {16, 58});
  expect_near(einsum("i,j->ij", {floats({2}, {2, 3}), floats({2}, {5, 7})}, {2, 2}),
              {10, 14, 15, 21});
  expect_near(einsum("ij,jk,kl->il", {a, b, a}, {2, 3}), {134, 184, 234, 305, 418, 531});
}

TEST(DecomposeImages, PadsByReflectionReplicationAndWrapping) {
  const std::vector<TensorData> x = {floats({1, 4}, {1, 2, 3, 4})};
  const auto padded = [&](const char* mode) {
    return run(x, one("aten.pad.default", {Dims{2, 3}, mode}))[0];
  };
  expect_near(padded("reflect"), {3, 2, 1, 2, 3, 4, 3, 2, 1});
  expect_near(padded("replicate"), {1, 1, 1, 2, 3, 4, 4, 4, 4});
  expect_near(padded("circular"), {3, 4, 1, 2, 3, 4, 1, 2, 3});
  // Negative padding removes an element at the front. The circular padding at the end does not
  // repeat the removed element.
  expect_one("aten.pad.default", x, {Dims{-1, 2}, "circular"}, {2, 3, 4, 2, 3});
}

TEST(DecomposeLinearAlgebra, ComputesCrossProducts) {
  const TensorData a = floats({2, 3}, {1, 2, 3, 1, 0, 0});
  const TensorData b = floats({2, 3}, {4, 5, 6, 0, 1, 0});
  const Values expected = {-3, 6, -3, 0, 0, 1};
  expect_call("aten.linalg_cross.default", {a, b}, {}, {2, 3}, expected);
  expect_call("aten.cross.default", {a, b}, {}, {2, 3}, expected);
}

TEST(DecomposeLinearAlgebra, ComputesNormsAndDistances) {
  const TensorData x = floats({2, 2}, {1, -2, -3, 4});
  const auto norm = [&](const char* target, ArgumentList rest, std::vector<SymInt> sizes) {
    return lowered(target, {x}, std::move(rest), std::move(sizes));
  };
  const double frobenius = std::sqrt(30.0);
  const Argument rows = Dims{1};
  expect_near(norm("aten.linalg_norm.default", {}, {}), {frobenius});
  expect_near(norm("aten.linalg_norm.default", {kInfinity}, {}), {7});
  expect_near(norm("aten.linalg_norm.default", {1}, {}), {6});
  expect_near(norm("aten.linalg_norm.default", {-1}, {}), {4});
  expect_near(norm("aten.linalg_norm.default", {1, rows}, {2}), {3, 7});
  expect_near(norm("aten.linalg_norm.ord_str", {"fro"}, {}), {frobenius});
  expect_near(norm("aten.linalg_matrix_norm.str_ord", {"fro"}, {}), {frobenius});
  expect_near(norm("aten.linalg_matrix_norm.default", {-kInfinity, Dims{-2, -1}, true}, {1, 1}),
              {3});
  EXPECT_THROW(norm("aten.linalg_norm.default", {2}, {}), AotError);
  // cosine_similarity broadcasts its operands before it computes their norms.
  const double norm_of_1_2 = std::sqrt(5.0);
  expect_call("aten.cosine_similarity.default", {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})},
              {1}, {2},
              {9 / norm_of_1_2 / (3 * std::sqrt(2.0)), 12 / norm_of_1_2 / (4 * std::sqrt(2.0))});
  const TensorData y = floats({2, 2}, {1, 2, 0, 0});
  expect_call("aten.dist.default", {x, y}, {1}, {}, {11});
  expect_call("aten.pairwise_distance.default", {x, y}, {2.0, 0.0}, {2}, {4, 5});
  // _weight_norm computes g v / |v|, with the norm of each row or of the entire tensor.
  expect_call("aten._weight_norm.default", {floats({2, 2}, {3, 4, 0, 2}), floats({2, 1}, {10, 3})},
              {0}, {2, 2}, {6, 8, 0, 3});
  expect_call("aten._weight_norm.default", {floats({2, 2}, {3, 4, 0, 0}), floats({}, {10})}, {-1},
              {2, 2}, {6, 8, 0, 0});
}

TEST(DecomposeScans, ComputesCumulativeProductsLogSumExpsAndExtremes) {
  const Values numbers = {2, -1, 3, 0.5, -2, 4, 1};
  const TensorData x = floats({7}, numbers);
  Values products;
  Values logs;
  double product = 1;
  double sum = 0;
  for (const double number : numbers) {
    products.push_back(product *= number);
    logs.push_back(std::log(sum += std::exp(number)));
  }
  expect_one("aten.cumprod.default", {x}, {0}, products);
  expect_one("aten.logcumsumexp.default", {x}, {0}, logs);
  expect_one("aten.cumprod.default", {floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 1, 1, 2, 2, 3, 3})}, {1},
             {1, 2, 3, 8, 15, 48, 1, 1, 2, 2, 6, 6});
  const Value::Items both = values_and_indices({6});
  const TensorData ties = floats({6}, {1, 3, 2, 3, kNan, 9});
  const TensorData falling = floats({6}, {4, 5, 3, 3, 7, 1});
  expect_near(lowered_item("aten.cummax.default", {ties}, {0}, both, 0), {1, 3, 3, 3, kNan, kNan});
  expect_near(lowered_item("aten.cummax.default", {ties}, {0}, both, 1), {0, 1, 1, 3, 4, 4});
  expect_near(lowered_item("aten.cummin.default", {falling}, {0}, both, 1), {0, 0, 2, 3, 3, 5});
}

TEST(DecomposeScans, ComputesDifferencesAndTrapezoidalIntegrals) {
  const TensorData x = floats({2, 4}, {1, 4, 9, 16, 0, 1, 0, 1});
  expect_call("aten.diff.default", {x}, {}, {2, 3}, {3, 5, 7, 1, -1, 1});
  expect_call("aten.diff.default", {x}, {2, 1}, {2, 2}, {2, 2, -2, 2});
  expect_call("aten.diff.default", {x}, {1, 0}, {1, 4}, {-1, -3, -9, -15});
  // A difference of order 0 ignores the tensor to prepend.
  expect_call("aten.diff.default", {x, x}, {"$", 0, -1, "$"}, {2, 4}, values_of(x));
  expect_call("aten.cumulative_trapezoid.dx", {x}, {}, {2, 3}, {5, 18, 43, 1, 2, 3}, {{"dx", 2.0}});
  expect_call("aten.cumulative_trapezoid.x", {x, floats({4}, {0, 1, 3, 4})}, {}, {2, 3},
              {2.5, 15.5, 28, 0.5, 1.5, 2});
  expect_call("aten.trapezoid.dx", {x}, {}, {2}, {0.5 * (0.5 + 4 + 9 + 8), 0.5 * 1.5},
              {{"dx", 0.5}});
  expect_call("aten.trapezoid.x", {x, floats({4}, {0, 1, 3, 4})}, {}, {2},
              {2.5 + 13 + 12.5, 0.5 + 1 + 0.5});
}

TEST(DecomposeShapes, SupportsRollTileRepeatAndTriangularMasks) {
  const std::vector<TensorData> x = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};
  expect_one("aten.roll.default", x, {Dims{4}}, {3, 4, 5, 6, 1, 2});
  expect_one("aten.roll.default", x, {Dims{-1}, Dims{1}}, {2, 3, 1, 5, 6, 4});
  expect_one("aten.tile.default", x, {Dims{2}}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_one("aten.repeat_interleave.self_int", x, {2}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  expect_one("aten.repeat_interleave.self_int", x, {2, 0}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_one("aten.triu.default", x, {1}, {0, 2, 3, 0, 0, 6});
  expect_one("aten.tril.default", x, {-1}, {0, 0, 0, 4, 0, 0});
}

TEST(DecomposeShapes, NegativeStartOfNarrowCountsFromTheEnd) {
  const std::vector<TensorData> x = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};
  expect_one("aten.narrow.default", x, {1, -2, 2}, {2, 3, 5, 6});
  expect_one("aten.narrow.default", x, {1, -3, 2}, {1, 2, 4, 5});
  expect_one("aten.narrow.default", x, {0, -1, 1}, {4, 5, 6});
  expect_one("aten.narrow.default", x, {0, 1, 1}, {4, 5, 6});
  EXPECT_TRUE(values_of(run(x, one("aten.narrow.default", {0, 0, 0}))[0]).empty());
}

TEST(DecomposeShapes, CreatesMeshGridsAndBroadcastsTensors) {
  const TensorData x = floats({3}, {1, 2, 3});
  const TensorData y = floats({2}, {10, 20});
  const Argument list = Argument::list({"$", "$"});
  const Value::Items rows = Value::Items(2, contiguous_spec(ScalarType::kFloat, {3, 2}));
  const Value::Items columns = Value::Items(2, contiguous_spec(ScalarType::kFloat, {2, 3}));
  const auto grid = [&](size_t item) {
    return lowered_item("aten.meshgrid.default", {x, y}, {list}, rows, item);
  };
  expect_near(grid(0), {1, 1, 2, 2, 3, 3});
  expect_near(grid(1), {10, 20, 10, 20, 10, 20});
  const auto xy_grid = [&](size_t item) {
    return lowered_item("aten.meshgrid.indexing", {x, y}, {list, "xy"}, columns, item);
  };
  expect_near(xy_grid(0), {1, 2, 3, 1, 2, 3});
  expect_near(xy_grid(1), {10, 10, 10, 20, 20, 20});
  const TensorData column = floats({2, 1}, {10, 20});
  const auto broadcast = [&](size_t item) {
    return lowered_item("aten.broadcast_tensors.default", {x, column}, {list}, columns, item);
  };
  expect_near(broadcast(0), {1, 2, 3, 1, 2, 3});
  expect_near(broadcast(1), {10, 10, 10, 20, 20, 20});
}

}  // namespace
}  // namespace vitrine::aot
