// Decompositions that the corpus does not touch, by formula: the operator in a program of its own
// is lowered and run by our kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "aot/builder/seeded_weights.h"
#include "aot/graph/aot_error.h"
#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

const Values kPoints = {-30, -3, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 3, 5, 30};

struct PointwiseFormula {
  const char* target;
  ArgumentList rest;
  std::function<double(double)> formula;
};

TEST(Decomposition, ElementWise) {
  const std::vector<PointwiseFormula> formulas = {
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
      {"aten.square.default", {}, [](double x) { return x * x; }},
      {"aten.erfc.default", {}, [](double x) { return std::erfc(x); }},
      {"aten.frac.default", {}, [](double x) { return x - std::trunc(x); }},
      {"aten.exp2.default", {}, [](double x) { return std::exp2(x); }},
      {"aten.clamp_min.default", {0.25}, [](double x) { return std::max(x, 0.25); }},
      {"aten.clamp_max.default", {0.25}, [](double x) { return std::min(x, 0.25); }},
      {"aten.rsub.Scalar", {2.0, 3.0}, [](double x) { return 2 - 3 * x; }},
      {"aten.isfinite.default", {}, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }},
      {"aten.relu6.default", {}, [](double x) { return std::clamp(x, 0.0, 6.0); }},
  };
  const auto count = static_cast<int64_t>(kPoints.size());
  for (const PointwiseFormula& each : formulas) {
    SCOPED_TRACE(each.target);
    Values expected;
    for (const double x : kPoints) expected.push_back(each.formula(x));
    expect_near(run({floats({count}, kPoints)}, one(each.target, each.rest))[0], expected);
  }
}

TEST(Decomposition, NotFiniteValues) {
  const std::vector<TensorData> x = {floats({5}, {1, kInfinity, -kInfinity, std::nan(""), -2})};
  expect_near(run(x, one("aten.isfinite.default"))[0], {1, 0, 0, 0, 1});
  expect_near(run(x, one("aten.nan_to_num.default", {3.0, 4.0, 5.0}))[0], {1, 4, 5, 3, -2});
}

TEST(Decomposition, SumsOfProducts) {
  const std::vector<TensorData> inputs = {floats({2}, {1, 2}), floats({2}, {3, 4}),
                                          floats({2}, {5, 8})};
  expect_near(run(inputs, one("aten.addcmul.default", {}, {{"value", 0.5}}))[0], {8.5, 18});
  expect_near(run(inputs, one("aten.addcdiv.default", {}, {{"value", 2}}))[0], {2.2, 3});
  expect_near(run({inputs[0], inputs[1]}, one("aten.lerp.Scalar", {0.25}))[0], {1.5, 2.5});
}

TEST(Decomposition, Norms) {
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

TEST(Decomposition, TestsOfAllElements) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 0, 2, 3})};
  expect_near(run(x, one("aten.all.dim", {1}))[0], {0, 1});
  expect_near(run(x, one("aten.all.default"))[0], {0});
}

TEST(Decomposition, Shapes) {
  const std::vector<TensorData> x = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};
  expect_near(run(x, one("aten.roll.default", {std::vector<int64_t>{4}}))[0], {3, 4, 5, 6, 1, 2});
  expect_near(
      run(x, one("aten.roll.default", {std::vector<int64_t>{-1}, std::vector<int64_t>{1}}))[0],
      {2, 3, 1, 5, 6, 4});
  expect_near(run(x, one("aten.tile.default", {std::vector<int64_t>{2}}))[0],
              {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_near(run(x, one("aten.repeat_interleave.self_int", {2}))[0],
              {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  expect_near(run(x, one("aten.repeat_interleave.self_int", {2, 0}))[0],
              {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_near(run(x, one("aten.triu.default", {1}))[0], {0, 2, 3, 0, 0, 6});
  expect_near(run(x, one("aten.tril.default", {-1}))[0], {0, 0, 0, 4, 0, 0});
}

TEST(Decomposition, GridsAndCommonSizes) {
  const TensorData x = floats({3}, {1, 2, 3});
  const TensorData y = floats({2}, {10, 20});
  const auto list = [](const std::vector<Node*>& in) {
    return ArgumentList{Argument::list(ArgumentList(in.begin(), in.end()))};
  };
  const auto by_word = [](const std::vector<Node*>& in) {
    return ArgumentList{Argument::list(ArgumentList(in.begin(), in.end())), "xy"};
  };
  const Value::Items rows = Value::Items(2, contiguous_spec(ScalarType::kFloat, {3, 2}));
  const Value::Items columns = Value::Items(2, contiguous_spec(ScalarType::kFloat, {2, 3}));
  const auto grid = [&](const char* target, const Arguments& arguments, const Value::Items& results,
                        size_t item) {
    return lowered_item(target, {x, y}, arguments, results, item);
  };
  expect_near(grid("aten.meshgrid.default", list, rows, 0), {1, 1, 2, 2, 3, 3});
  expect_near(grid("aten.meshgrid.default", list, rows, 1), {10, 20, 10, 20, 10, 20});
  expect_near(grid("aten.meshgrid.indexing", by_word, columns, 0), {1, 2, 3, 1, 2, 3});
  expect_near(grid("aten.meshgrid.indexing", by_word, columns, 1), {10, 10, 10, 20, 20, 20});

  const TensorData column = floats({2, 1}, {10, 20});
  const auto together = [&](size_t item) {
    return lowered_item("aten.broadcast_tensors.default", {x, column}, list, columns, item);
  };
  expect_near(together(0), {1, 2, 3, 1, 2, 3});
  expect_near(together(1), {10, 10, 10, 20, 20, 20});
}

TEST(Decomposition, Paddings) {
  const std::vector<TensorData> x = {floats({1, 4}, {1, 2, 3, 4})};
  const auto padded = [&](const char* mode) {
    return run(x, one("aten.pad.default", {std::vector<int64_t>{2, 3}, mode}))[0];
  };
  expect_near(padded("reflect"), {3, 2, 1, 2, 3, 4, 3, 2, 1});
  expect_near(padded("replicate"), {1, 1, 1, 2, 3, 4, 4, 4, 4});
  expect_near(padded("circular"), {3, 4, 1, 2, 3, 4, 1, 2, 3});
  // What is cut off in front does not come round behind.
  expect_near(run(x, one("aten.pad.default", {std::vector<int64_t>{-1, 2}, "circular"}))[0],
              {2, 3, 4, 2, 3});
}

TEST(Decomposition, PoolsAndResizesOfOneDim) {
  const std::vector<TensorData> x = {floats({1, 1, 6}, {1, 5, 2, 4, 3, 0})};
  expect_near(
      run(x, one("aten.max_pool1d.default", {std::vector<int64_t>{2}, std::vector<int64_t>{2}}))[0],
      {5, 4, 3});
  expect_near(run(x, one("aten.avg_pool1d.default", {std::vector<int64_t>{3}}))[0],
              {8.0 / 3, 7.0 / 3});
  expect_near(run(x, one("aten.adaptive_avg_pool1d.default", {std::vector<int64_t>{1}}))[0], {2.5});
  expect_near(run(x, one("aten.adaptive_avg_pool1d.default", {std::vector<int64_t>{2}}))[0],
              {8.0 / 3, 7.0 / 3});
  expect_near(run({floats({1, 1, 2}, {1, 3})},
                  one("aten.upsample_nearest1d.vec", {std::vector<int64_t>{4}, Argument()}))[0],
              {1, 1, 3, 3});
  expect_near(run({floats({1, 1, 2}, {1, 3})}, one("aten.upsample_linear1d.vec",
                                                   {std::vector<int64_t>{3}, true, Argument()}))[0],
              {1, 2, 3});
}

TEST(Decomposition, ConvolutionWithPaddingByWord) {
  const std::vector<TensorData> inputs = {floats({1, 1, 4}, {1, 2, 3, 4}),
                                          floats({1, 1, 2}, {1, 10})};
  const ArgumentList rest = {Argument(), std::vector<int64_t>{1}, "same"};
  expect_near(run(inputs, one("aten.conv1d.padding", rest))[0], {21, 32, 43, 4});
}

// Every rank of matmul's operands, against the sum of products.
TEST(Decomposition, MatrixProducts) {
  const auto product = [](std::vector<int64_t> a, std::vector<int64_t> b) {
    return run({seeded_weights("a", 1, std::move(a), 1), seeded_weights("b", 2, std::move(b), 1)},
               one("aten.matmul.default"))[0];
  };
  const Values a = values_of(seeded_weights("a", 1, {2 * 3 * 4}, 1));
  const Values b = values_of(seeded_weights("b", 2, {4 * 5 * 2}, 1));
  const auto dot = [&](size_t row, size_t column, size_t stride, size_t from = 0) {
    double sum = 0;
    for (size_t i = 0; i < 4; ++i) sum += a[row * 4 + i] * b[from + i * stride + column];
    return sum;
  };
  expect_near(product({4}, {4}), {dot(0, 0, 1)});
  expect_near(product({3, 4}, {4}), {dot(0, 0, 1), dot(1, 0, 1), dot(2, 0, 1)});
  expect_near(product({4}, {4, 5}),
              {dot(0, 0, 5), dot(0, 1, 5), dot(0, 2, 5), dot(0, 3, 5), dot(0, 4, 5)});
  Values folded;
  for (size_t row = 0; row < 6; ++row) folded.push_back(dot(row, 0, 1));
  expect_near(product({2, 3, 4}, {4}), folded);
  Values rows;
  for (size_t row = 0; row < 6; ++row) {
    for (size_t column = 0; column < 5; ++column) rows.push_back(dot(row, column, 5));
  }
  expect_near(product({2, 3, 4}, {4, 5}), rows);
  Values batches;
  for (size_t batch = 0; batch < 2; ++batch) {
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 5; ++column) {
        batches.push_back(dot(row, column, 5, batch * 20));
      }
    }
  }
  expect_near(product({3, 4}, {2, 4, 5}), batches);
  Values vectors;
  for (size_t batch = 0; batch < 2; ++batch) {
    for (size_t column = 0; column < 5; ++column) vectors.push_back(dot(0, column, 5, batch * 20));
  }
  expect_near(product({4}, {2, 4, 5}), vectors);
}

TEST(Decomposition, Einsum) {
  const TensorData a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData b = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto einsum = [](const char* equation, std::vector<TensorData> inputs,
                         std::vector<SymInt> sizes) {
    return run(inputs, [&](ModelBuilder& build, const std::vector<Node*>& nodes) {
      const Argument list = Argument::list(ArgumentList(nodes.begin(), nodes.end()));
      return build.call_as("aten.einsum.default", {equation, list}, {},
                           contiguous_spec(ScalarType::kFloat, sizes));
    })[0];
  };
  expect_near(einsum("ij,jk->ik", {a, b}, {2, 2}), {22, 28, 49, 64});
  expect_near(einsum("ij,jk", {a, b}, {2, 2}), {22, 28, 49, 64});
  expect_near(einsum("ij->ji", {a}, {3, 2}), {1, 4, 2, 5, 3, 6});
  expect_near(einsum("ij->", {a}, {}), {21});
  expect_near(einsum("...j->...", {a}, {2}), {6, 15});
  // Dims that the first operand alone has are summed, an ellipsis that the result lacks too.
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

// softmax(q k^T / sqrt(d) + mask) v
Values attention(const Values& q, const Values& k, const Values& v, size_t queries, size_t keys,
                 size_t width, const std::function<double(size_t, size_t)>& mask) {
  Values result;
  for (size_t i = 0; i < queries; ++i) {
    Values weights;
    double total = 0;
    for (size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (size_t c = 0; c < width; ++c) score += q[i * width + c] * k[j * width + c];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(width)) + mask(i, j)));
      total += weights.back();
    }
    for (size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (size_t j = 0; j < keys; ++j) sum += weights[j] * v[j * width + c];
      result.push_back(total == 0 ? 0 : sum / total);
    }
  }
  return result;
}

TEST(Decomposition, Attention) {
  const TensorData q = seeded_weights("q", 1, {1, 1, 3, 4}, 2);
  const TensorData k = seeded_weights("k", 1, {1, 1, 3, 4}, 2);
  const TensorData v = seeded_weights("v", 1, {1, 1, 3, 4}, 2);
  constexpr const char* kTarget = "aten.scaled_dot_product_attention.default";
  const auto expected = [&](const std::function<double(size_t, size_t)>& mask) {
    return attention(values_of(q), values_of(k), values_of(v), 3, 3, 4, mask);
  };
  expect_near(run({q, k, v}, one(kTarget))[0], expected([](size_t, size_t) { return 0.0; }));
  expect_near(run({q, k, v}, one(kTarget, {Argument(), 0.0, true}))[0],
              expected([](size_t i, size_t j) { return j > i ? -kInfinity : 0; }));
  const Values added = {0, 1, -1, 0.5, 0, -kInfinity, 2, 0, 0};
  expect_near(run({q, k, v, floats({3, 3}, added)}, one(kTarget))[0],
              expected([&](size_t i, size_t j) { return added[i * 3 + j]; }));
  // A row that sees nothing is 0, not NaN.
  const auto seen = [](size_t i, size_t j) { return i != 1 && j != 2; };
  std::vector<std::byte> bools;
  for (size_t i = 0; i < 9; ++i) bools.push_back(std::byte{seen(i / 3, i % 3)});
  expect_near(run({q, k, v, make_tensor_data(ScalarType::kBool, {3, 3}, bools)}, one(kTarget))[0],
              expected([&](size_t i, size_t j) { return seen(i, j) ? 0 : -kInfinity; }));
  // Two heads of queries share one of keys and values.
  const TensorData heads = seeded_weights("q", 1, {1, 2, 3, 4}, 2);
  Values shared = values_of(heads);
  const Values first(shared.begin(), shared.begin() + 12);
  const Values second(shared.begin() + 12, shared.end());
  const auto none = [](size_t, size_t) { return 0.0; };
  Values both = attention(first, values_of(k), values_of(v), 3, 3, 4, none);
  const Values rest = attention(second, values_of(k), values_of(v), 3, 3, 4, none);
  both.insert(both.end(), rest.begin(), rest.end());
  expect_near(run({heads, k, v}, one(kTarget, {}, {{"enable_gqa", true}}))[0], both);
}

// Two steps of a vanilla recurrent layer of one unit.
TEST(Decomposition, RecurrentLayer) {
  const std::vector<TensorData> inputs = {floats({2, 1, 1}, {1, 2}), floats({1, 1, 1}, {0.5}),
                                          floats({1, 1}, {0.3}),     floats({1, 1}, {0.7}),
                                          floats({1}, {0.1}),        floats({1}, {0.2})};
  const Values found = values_of(run(inputs, [](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* all = build.call_as("aten.rnn_tanh.input",
                              {in[0], in[1], Argument::list({in[2], in[3], in[4], in[5]}), true, 1,
                               0.0, false, false, false},
                              {},
                              Value::Items{contiguous_spec(ScalarType::kFloat, {2, 1, 1}),
                                           contiguous_spec(ScalarType::kFloat, {1, 1, 1})});
    return build.item(all, 0);
  })[0]);
  const double first = std::tanh(0.3 * 1 + 0.1 + 0.7 * 0.5 + 0.2);
  const double second = std::tanh(0.3 * 2 + 0.1 + 0.7 * first + 0.2);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0], first, 1e-6);
  EXPECT_NEAR(found[1], second, 1e-6);
}

TEST(Decomposition, Makers) {
  const std::vector<TensorData> x = {floats({3}, {0, 0, 0})};
  const auto made = [&](const char* target, ArgumentList args) {
    return run(x, [&](ModelBuilder& build, const std::vector<Node*>& in) {
      return build.call("aten.add.Tensor", {in[0], build.call(target, args)});
    })[0];
  };
  expect_near(made("aten.linspace.default", {-1, 1, 3}), {-1, 0, 1});
  expect_near(made("aten.linspace.default", {2.0, 3.0, 1}), {2, 2, 2});
  expect_near(made("aten.eye.m", {2, 3}), {1, 0, 0, 0, 1, 0});
  const auto indices = [&](const char* target, ArgumentList args, int64_t count) {
    const std::vector<TensorData> zero = {integers({1}, {0})};
    return run(zero, [&](ModelBuilder& build, const std::vector<Node*>& in) {
      Node* all = build.call_as(target, args, {}, contiguous_spec(ScalarType::kLong, {2, count}));
      return build.call("aten.add.Tensor", {in[0], all});
    })[0];
  };
  expect_near(indices("aten.tril_indices.default", {3, 2}, 5), {0, 1, 1, 2, 2, 0, 0, 1, 0, 1});
  expect_near(indices("aten.tril_indices.default", {3, 3, -1}, 3), {1, 2, 2, 0, 0, 1});
  expect_near(indices("aten.triu_indices.default", {3, 3, 1}, 3), {0, 0, 1, 1, 2, 2});
  expect_near(indices("aten.triu_indices.default", {3, 2, 0}, 3), {0, 0, 1, 0, 1, 1});
  expect_near(run(x,
                  [&](ModelBuilder& build, const std::vector<Node*>& in) {
                    Node* powers = build.call_as("aten.logspace.default", {0, 2, 3}, {},
                                                 contiguous_spec(ScalarType::kFloat, {3}));
                    return build.call("aten.add.Tensor", {in[0], powers});
                  })[0],
              {1, 10, 100});
  expect_near(run({integers({2}, {2, 0})}, one("aten.one_hot.default", {3}))[0],
              {0, 0, 1, 1, 0, 0});
}

// Writes through views reach what they are views of, and all other views of it.
TEST(Functionalise, WritesReachTheBase) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto written = [&](const std::function<void(ModelBuilder&, Node*)>& write) {
    return run({x}, [&](ModelBuilder& build, const std::vector<Node*>& in) {
      Node* copy = build.call("aten.clone.default", {in[0]});
      write(build, copy);
      return copy;
    })[0];
  };
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* row = build.call("aten.select.int", {t, 0, 1});
                build.call("aten.mul_.Tensor", {row, 10});
              }),
              {1, 2, 3, 40, 50, 60});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* columns = build.call("aten.slice.Tensor", {t, 1, 1, 3});
                build.call("aten.fill_.Scalar", {columns, 0});
              }),
              {1, 0, 0, 4, 0, 0});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* flat = build.call("aten.view.default", {t, std::vector<int64_t>{6}});
                Node* end = build.call("aten.slice.Tensor", {flat, 0, 4, 6});
                build.call("aten.neg_.default", {end});
              }),
              {1, 2, 3, 4, -5, -6});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* turned = build.call("aten.transpose.int", {t, 0, 1});
                Node* first = build.call("aten.select.int", {turned, 0, 0});
                build.call("aten.add_.Tensor", {first, 100});
              }),
              {101, 2, 3, 104, 5, 6});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* wide = build.call("aten.unsqueeze.default", {t, 0});
                Node* narrow = build.call("aten.squeeze.dim", {wide, 0});
                build.call("aten.relu_.default", {build.call("aten.neg_.default", {narrow})});
              }),
              {0, 0, 0, 0, 0, 0});
}

TEST(Functionalise, ViewsSeeLaterWrites) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 2, 3, 4})};
  const auto found = run(x, [](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    Node* row = build.call("aten.select.int", {copy, 0, 0});
    Node* before = build.call("aten.mul.Tensor", {row, 1});  // a value of its own
    build.call("aten.add_.Tensor", {copy, 10});
    return build.call("aten.add.Tensor", {row, before});
  });
  expect_near(found[0], {12, 14});
}

TEST(Functionalise, RefusesWhatItCannotPutBack) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 2});
  Node* copy = build.call("aten.clone.default", {x});
  Node* windows = build.call("aten.unfold.default", {copy, 0, 1, 1});
  build.call("aten.fill_.Scalar", {windows, 0});
  ExportedProgram program = build.finish({copy});
  try {
    to_edge(program);
    FAIL() << "was taken";
  } catch (const AotError& error) {
    EXPECT_NE(std::string(error.what()).find("a write through aten.unfold.default"),
              std::string::npos)
        << error.what();
  }
}

// What no partitioner asked for is decomposed; what one keeps of an operator is not.
TEST(OpsToKeep, KeepsWhatTheFilterTakes) {
  const auto lower = [](const EdgeOptions& options) {
    ModelBuilder build("Net");
    Node* x = build.input("x", ScalarType::kFloat, {2, 4});
    Node* first = build.call("aten.linear.default", {x, build.parameter("a", {4, 4})});
    Node* second = build.call("aten.linear.default", {first, build.parameter("b", {3, 4})});
    ExportedProgram program = build.finish({build.call("aten.hardswish.default", {second})});
    to_edge(program, options);
    std::string names;
    for (const Node& node : program.graph->nodes()) {
      if (node.is_call()) names += std::string(node.target().op()) + " ";
    }
    return std::pair(std::move(program), names);
  };
  EdgeOptions options;
  OpsToKeep keep;
  keep.targets = {"aten.linear.default", "aten.add.Tensor", "aten.permute.default"};
  keep.keeps = [](const Node& node) {
    return !node.target().is("aten.linear.default") || node.tensor()->sizes.back() == SymInt(3);
  };
  options.ops_to_keep = {keep};
  const auto [program, names] = lower(options);
  EXPECT_EQ(
      names,
      "permute_copy mm linear _to_dim_order_copy add clamp clamp mul _to_dim_order_copy div ");
  EXPECT_THROW(require_kept_ops_lowered(program, options.ops_to_keep), AotError);
  EXPECT_NO_THROW(require_kept_ops_lowered(program, {}));
  options = {};
  options.preserve_ops = {"aten.hardswish.default"};
  EXPECT_EQ(lower(options).second, "permute_copy mm permute_copy mm hardswish ");
}

}  // namespace
}  // namespace vitrine::aot
