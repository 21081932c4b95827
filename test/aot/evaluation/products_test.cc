// Products and norms of vectors, matrices and tensors, and steps of recurrent layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "aot/builder/seeded_weights.h"
#include "aot/graph/aot_error.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

using Nodes = std::vector<Node*>;

TEST(DecomposedProducts, WithASum) {
  const TensorData self = floats({2, 2}, {1, 2, 3, 4});
  const TensorData a = floats({2, 2, 1}, {1, 2, 3, 4});
  const TensorData b = floats({2, 1, 2}, {5, 6, 7, 8});
  // [1 2]' [5 6] + [3 4]' [7 8]
  const Values product = {26, 30, 38, 44};
  Values scaled;
  for (size_t i = 0; i < 4; ++i)
    scaled.push_back(0.5 * static_cast<double>(i + 1) + 2 * product[i]);
  expect_near(lowered("aten.addbmm.default", {self, a, b}, ArgumentList{}, {2, 2},
                      {{"beta", 0.5}, {"alpha", 2}}),
              scaled);
  const TensorData u = floats({2}, {1, 2});
  const TensorData v = floats({2}, {3, 4});
  expect_near(lowered("aten.addr.default", {self, u, v}, ArgumentList{}, {2, 2}), {4, 6, 9, 12});
  // What beta = 0 leaves out may be no number.
  expect_near(lowered("aten.addr.default", {floats({}, {std::nan("")}), u, v}, ArgumentList{},
                      {2, 2}, {{"beta", 0}}),
              {3, 4, 6, 8});
}

TEST(DecomposedProducts, OfTensors) {
  const TensorData a = seeded_weights("a", 1, {2, 3, 4}, 1);
  const TensorData b = seeded_weights("b", 2, {4, 5, 3}, 1);
  const Values x = values_of(a);
  const Values y = values_of(b);
  Values expected;
  for (size_t i = 0; i < 2; ++i) {
    for (size_t k = 0; k < 5; ++k) {
      double sum = 0;
      for (size_t j = 0; j < 3; ++j) {
        for (size_t l = 0; l < 4; ++l) sum += x[(i * 3 + j) * 4 + l] * y[(l * 5 + k) * 3 + j];
      }
      expected.push_back(sum);
    }
  }
  expect_near(lowered("aten.tensordot.default", {a, b},
                      {std::vector<int64_t>{1, 2}, std::vector<int64_t>{2, 0}}, {2, 5}),
              expected);
  Values inner;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      double sum = 0;
      for (size_t l = 0; l < 4; ++l) sum += x[i * 4 + l] * y[k * 4 + l];
      inner.push_back(sum);
    }
  }
  const TensorData rows = floats({2, 4}, {y.begin(), y.begin() + 8});
  expect_near(lowered("aten.inner.default", {a, rows}, ArgumentList{}, {2, 3, 2}), inner);
  expect_near(lowered("aten.kron.default", {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})},
                      ArgumentList{}, {2, 2}),
              {3, 6, 4, 8});
  expect_near(lowered("aten.kron.default", {floats({2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})},
                      ArgumentList{}, {2, 4}),
              {1, 2, 2, 4, 3, 4, 6, 8});
  const TensorData square = floats({2, 2}, {1, 1, 0, 1});
  expect_near(lowered("aten.linalg_matrix_power.default", {square}, ArgumentList{0}, {2, 2}),
              {1, 0, 0, 1});
  expect_near(lowered("aten.linalg_matrix_power.default", {square}, ArgumentList{5}, {2, 2}),
              {1, 5, 0, 1});
  expect_near(lowered("aten.linalg_multi_dot.default", {square, square, floats({2}, {3, 4})},
                      [](const Nodes& in) {
                        return ArgumentList{Argument::list({in[0], in[1], in[2]})};
                      },
                      {2}),
              {11, 4});
  expect_near(lowered("aten.linalg_vecdot.default", {square, square}, ArgumentList{}, {2}), {2, 1});
}

TEST(DecomposedProducts, Cross) {
  const TensorData a = floats({2, 3}, {1, 2, 3, 1, 0, 0});
  const TensorData b = floats({2, 3}, {4, 5, 6, 0, 1, 0});
  const Values expected = {-3, 6, -3, 0, 0, 1};
  expect_near(lowered("aten.linalg_cross.default", {a, b}, ArgumentList{}, {2, 3}), expected);
  expect_near(lowered("aten.cross.default", {a, b}, ArgumentList{}, {2, 3}), expected);
}

TEST(DecomposedProducts, Bilinear) {
  const TensorData a = seeded_weights("a", 1, {2, 3}, 1);
  const TensorData b = seeded_weights("b", 1, {2, 4}, 1);
  const TensorData weight = seeded_weights("w", 1, {5, 3, 4}, 1);
  const TensorData bias = seeded_weights("c", 1, {5}, 1);
  const Values x = values_of(a);
  const Values y = values_of(b);
  const Values w = values_of(weight);
  const Values c = values_of(bias);
  Values expected;
  for (size_t n = 0; n < 2; ++n) {
    for (size_t o = 0; o < 5; ++o) {
      double sum = c[o];
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 4; ++j) sum += x[n * 3 + i] * w[(o * 3 + i) * 4 + j] * y[n * 4 + j];
      }
      expected.push_back(sum);
    }
  }
  expect_near(lowered("aten.bilinear.default", {a, b, weight, bias}, ArgumentList{}, {2, 5}),
              expected);
}

TEST(DecomposedProducts, Norms) {
  const TensorData x = floats({2, 2}, {1, -2, -3, 4});
  const auto norm = [&](const char* target, ArgumentList rest, std::vector<SymInt> sizes) {
    return lowered(target, {x}, rest, std::move(sizes));
  };
  const double frobenius = std::sqrt(30.0);
  const Argument rows = std::vector<int64_t>{1};
  expect_near(norm("aten.linalg_norm.default", {}, {}), {frobenius});
  expect_near(norm("aten.linalg_norm.default", {kInfinity}, {}), {7});
  expect_near(norm("aten.linalg_norm.default", {1}, {}), {6});
  expect_near(norm("aten.linalg_norm.default", {-1}, {}), {4});
  expect_near(norm("aten.linalg_norm.default", {1, rows}, {2}), {3, 7});
  expect_near(norm("aten.linalg_norm.ord_str", {"fro"}, {}), {frobenius});
  expect_near(norm("aten.linalg_matrix_norm.str_ord", {"fro"}, {}), {frobenius});
  expect_near(norm("aten.linalg_matrix_norm.default",
                   {-kInfinity, std::vector<int64_t>{-2, -1}, true}, {1, 1}),
              {3});
  EXPECT_THROW(norm("aten.linalg_norm.default", {2}, {}), AotError);
  // Operands get their common sizes before the norms are taken along one of them.
  const double longer = std::sqrt(5.0);  // of (1, 2)
  expect_near(lowered("aten.cosine_similarity.default",
                      {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})}, ArgumentList{1}, {2}),
              {9 / longer / (3 * std::sqrt(2.0)), 12 / longer / (4 * std::sqrt(2.0))});
  const TensorData y = floats({2, 2}, {1, 2, 0, 0});
  expect_near(lowered("aten.dist.default", {x, y}, ArgumentList{1}, {}), {11});
  expect_near(lowered("aten.pairwise_distance.default", {x, y}, ArgumentList{2.0, 0.0}, {2}),
              {4, 5});
  // g v / |v|, by rows and of all.
  expect_near(
      lowered("aten._weight_norm.default", {floats({2, 2}, {3, 4, 0, 2}), floats({2, 1}, {10, 3})},
              ArgumentList{0}, {2, 2}),
      {6, 8, 0, 3});
  expect_near(lowered("aten._weight_norm.default", {floats({2, 2}, {3, 4, 0, 0}), floats({}, {10})},
                      ArgumentList{-1}, {2, 2}),
              {6, 8, 0, 0});
}

TEST(DecomposedProducts, BatchNormOfItsOwnInput) {
  const TensorData x = floats({2, 2, 1}, {1, 10, 3, 30});
  const auto arguments = [](const Nodes& in) {
    return ArgumentList{in[0], Argument(), Argument(), Argument(), Argument(),
                        true,  0.1,        0.0,        false};
  };
  expect_near(lowered("aten.batch_norm.default", {x}, arguments, {2, 2, 1}), {-1, -1, 1, 1});
}

// An encoder layer's own operator against the calls that its definition is made of.
TEST(DecomposedProducts, TransformerLayers) {
  const auto weights = [](const char* name, std::vector<int64_t> sizes) {
    return seeded_weights(name, 4, std::move(sizes), 1);
  };
  const std::vector<TensorData> inputs = {
      weights("x", {2, 3, 4}),
      weights("qkv", {12, 4}),
      weights("qkv_bias", {12}),
      weights("proj", {4, 4}),
      weights("proj_bias", {4}),
      weights("n1", {4}),
      weights("b1", {4}),
      weights("n2", {4}),
      weights("b2", {4}),
      weights("f1", {8, 4}),
      weights("c1", {8}),
      weights("f2", {4, 8}),
      weights("c2", {4}),
      make_tensor_data(
          ScalarType::kBool, {2, 3},
          {std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0}, std::byte{1}, std::byte{0}})};
  for (const bool norm_first : {false, true}) {
    SCOPED_TRACE(norm_first);
    const TensorData found =
        lowered("aten._transformer_encoder_layer_fwd.default", inputs,
                [&](const Nodes& in) {
                  return ArgumentList{in[0], 4,          2,      in[1],  in[2],  in[3], in[4],
                                      true,  norm_first, 1e-5,   in[5],  in[6],  in[7], in[8],
                                      in[9], in[10],     in[11], in[12], in[13], 1};
                },
                {2, 3, 4});
    const auto expected = run(inputs, [&](ModelBuilder& build, const Nodes& in) {
      const std::vector<int64_t> shape = {4};
      const auto attend = [&](Node* x) {
        Node* all = build.call("aten.linear.default", {x, in[1], in[2]});
        std::vector<Node*> parts;
        for (int64_t i = 0; i < 3; ++i) {
          Node* part = build.call("aten.slice.Tensor", {all, 2, 4 * i, 4 * i + 4});
          part = build.call("aten.view.default", {build.call("aten.contiguous.default", {part}),
                                                  std::vector<int64_t>{2, 3, 2, 2}});
          parts.push_back(build.call("aten.transpose.int", {part, 1, 2}));
        }
        Node* seen = build.call("aten.logical_not.default", {in[13]});
        seen = build.call("aten.unsqueeze.default",
                          {build.call("aten.unsqueeze.default", {seen, 1}), 1});
        Node* joined = build.call("aten.scaled_dot_product_attention.default",
                                  {parts[0], parts[1], parts[2], seen});
        joined = build.call("aten.transpose.int", {joined, 1, 2});
        joined = build.call("aten.reshape.default", {joined, std::vector<int64_t>{2, 3, 4}});
        return build.call("aten.linear.default", {joined, in[3], in[4]});
      };
      const auto norm = [&](Node* x, size_t at) {
        return build.call("aten.layer_norm.default", {x, shape, in[at], in[at + 1], 1e-5});
      };
      const auto feed = [&](Node* x) {
        Node* inner = build.call("aten.linear.default", {x, in[9], in[10]});
        return build.call("aten.linear.default",
                          {build.call("aten.gelu.default", {inner}), in[11], in[12]});
      };
      const auto add = [&](Node* a, Node* b) { return build.call("aten.add.Tensor", {a, b}); };
      if (norm_first) {
        Node* x = add(in[0], attend(norm(in[0], 5)));
        return add(x, feed(norm(x, 7)));
      }
      Node* x = norm(add(in[0], attend(in[0])), 5);
      return norm(add(x, feed(x)), 7);
    });
    expect_near(found, values_of(expected[0]), 1e-5);
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One unit: a gate is w x + b + u h + c.
struct Unit {
  Values of_input, of_hidden, input_bias, hidden_bias;
  double input(size_t gate, double x) const { return of_input[gate] * x + input_bias[gate]; }
  double hidden(size_t gate, double h) const { return of_hidden[gate] * h + hidden_bias[gate]; }
  std::vector<TensorData> tensors() const {
    const auto gates = static_cast<int64_t>(of_input.size());
    return {floats({gates, 1}, of_input), floats({gates, 1}, of_hidden),
            floats({gates}, input_bias), floats({gates}, hidden_bias)};
  }
};

TEST(DecomposedProducts, RecurrentCells) {
  const double x = 0.7;
  const double h = -0.4;
  const double c = 0.9;
  const Unit lstm = {
      {0.1, 0.2, 0.3, 0.4}, {-0.5, 0.6, 0.7, 0.8}, {0.1, 0, 0.2, 0}, {0, 0.3, 0, -0.1}};
  const auto gate = [&](size_t i) { return lstm.input(i, x) + lstm.hidden(i, h); };
  const double cell = sigmoid(gate(1)) * c + sigmoid(gate(0)) * std::tanh(gate(2));
  const double hidden = sigmoid(gate(3)) * std::tanh(cell);
  std::vector<TensorData> inputs = {floats({1, 1}, {x}), floats({1, 1}, {h}), floats({1, 1}, {c})};
  const std::vector<TensorData> weights = lstm.tensors();
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  const TensorSpec state = contiguous_spec(ScalarType::kFloat, {1, 1});
  const auto arguments = [](const Nodes& in) {
    return ArgumentList{in[0], Argument::list({in[1], in[2]}), in[3], in[4], in[5], in[6]};
  };
  expect_near(lowered_item("aten.lstm_cell.default", inputs, arguments, {state, state}, 0),
              {hidden});
  expect_near(lowered_item("aten.lstm_cell.default", inputs, arguments, {state, state}, 1), {cell});

  const Unit gru = {{0.1, 0.2, 0.3}, {-0.5, 0.6, 0.7}, {0.1, 0, 0.2}, {0, 0.3, 0.4}};
  const double reset = sigmoid(gru.input(0, x) + gru.hidden(0, h));
  const double update = sigmoid(gru.input(1, x) + gru.hidden(1, h));
  const double candidate = std::tanh(gru.input(2, x) + reset * gru.hidden(2, h));
  inputs = {floats({1, 1}, {x}), floats({1, 1}, {h})};
  const std::vector<TensorData> of_gru = gru.tensors();
  inputs.insert(inputs.end(), of_gru.begin(), of_gru.end());
  expect_near(lowered("aten.gru_cell.default", inputs, ArgumentList{}, {1, 1}),
              {(h - candidate) * update + candidate});

  const Unit plain = {{0.3}, {0.7}, {0.1}, {0.2}};
  inputs = {floats({1, 1}, {x}), floats({1, 1}, {h})};
  const std::vector<TensorData> of_plain = plain.tensors();
  inputs.insert(inputs.end(), of_plain.begin(), of_plain.end());
  const double sum = plain.input(0, x) + plain.hidden(0, h);
  expect_near(lowered("aten.rnn_tanh_cell.default", inputs, ArgumentList{}, {1, 1}),
              {std::tanh(sum)});
  expect_near(lowered("aten.rnn_relu_cell.default", inputs, ArgumentList{}, {1, 1}),
              {std::max(sum, 0.0)});
}

// Two layers in both directions, of one unit each, against the steps written out.
TEST(DecomposedProducts, LayersInBothDirections) {
  const Values x = {0.5, -1, 2};
  struct Direction {
    Values of_input;
    double of_hidden;
  };
  const std::array<Direction, 4> directions = {Direction{{0.3}, 0.7}, Direction{{-0.4}, 0.2},
                                               Direction{{0.6, -0.1}, 0.5},
                                               Direction{{0.2, 0.9}, -0.3}};
  std::vector<Values> steps = {{0.5}, {-1}, {2}};
  Values ends;
  for (size_t layer = 0; layer < 2; ++layer) {
    std::vector<Values> next(3);
    for (size_t d = 0; d < 2; ++d) {
      const Direction& direction = directions[layer * 2 + d];
      double h = 0;
      Values outputs(3);
      for (size_t i = 0; i < 3; ++i) {
        const size_t at = d == 0 ? i : 2 - i;
        double sum = direction.of_hidden * h;
        for (size_t j = 0; j < steps[at].size(); ++j) sum += direction.of_input[j] * steps[at][j];
        outputs[at] = h = std::tanh(sum);
      }
      for (size_t i = 0; i < 3; ++i) next[i].push_back(outputs[i]);
      ends.push_back(h);
    }
    steps = next;
  }
  std::vector<TensorData> inputs = {floats({1, 3, 1}, x), floats({4, 1, 1}, Values(4, 0))};
  for (const Direction& direction : directions) {
    const auto width = static_cast<int64_t>(direction.of_input.size());
    inputs.push_back(floats({1, width}, direction.of_input));
    inputs.push_back(floats({1, 1}, {direction.of_hidden}));
  }
  const auto arguments = [](const Nodes& in) {
    return ArgumentList{in[0], in[1], Argument::list(ArgumentList(in.begin() + 2, in.end())),
                        false, 2,     0.0,
                        false, true,  true};
  };
  const Value::Items results = {contiguous_spec(ScalarType::kFloat, {1, 3, 2}),
                                contiguous_spec(ScalarType::kFloat, {4, 1, 1})};
  Values output;
  for (const Values& step : steps) output.insert(output.end(), step.begin(), step.end());
  expect_near(lowered_item("aten.rnn_tanh.input", inputs, arguments, results, 0), output);
  expect_near(lowered_item("aten.rnn_tanh.input", inputs, arguments, results, 1), ends);
}

}  // namespace
}  // namespace vitrine::aot
