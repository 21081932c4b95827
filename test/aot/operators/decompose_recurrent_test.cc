#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The weights of a recurrent layer with one hidden unit. input() and hidden() return the two terms
// of a gate before its activation.
struct Unit {
  Values input_weight, hidden_weight, input_bias, hidden_bias;
  double input(size_t gate, double x) const { return input_weight[gate] * x + input_bias[gate]; }
  double hidden(size_t gate, double h) const { return hidden_weight[gate] * h + hidden_bias[gate]; }
  // Returns the inputs of a call of the cell: one element per state, followed by the weights.
  std::vector<TensorData> inputs(const Values& states) const {
    std::vector<TensorData> made;
    for (const double state : states) made.push_back(floats({1, 1}, {state}));
    const auto gates = static_cast<int64_t>(input_weight.size());
    made.push_back(floats({gates, 1}, input_weight));
    made.push_back(floats({gates, 1}, hidden_weight));
    made.push_back(floats({gates}, input_bias));
    made.push_back(floats({gates}, hidden_bias));
    return made;
  }
};

TEST(DecomposeRecurrent, TanhLayerPassesItsHiddenStateToTheNextStep) {
  const std::vector<TensorData> inputs = {floats({2, 1, 1}, {1, 2}), floats({1, 1, 1}, {0.5}),
                                          floats({1, 1}, {0.3}),     floats({1, 1}, {0.7}),
                                          floats({1}, {0.1}),        floats({1}, {0.2})};
  const double first = std::tanh(0.3 * 1 + 0.1 + 0.7 * 0.5 + 0.2);
  const double second = std::tanh(0.3 * 2 + 0.1 + 0.7 * first + 0.2);
  const Argument weights = Argument::list({"$", "$", "$", "$"});
  const ArgumentList args = {"$", "$", weights, true, 1, 0.0, false, false, false};
  const Value::Items results = {contiguous_spec(ScalarType::kFloat, {2, 1, 1}),
                                contiguous_spec(ScalarType::kFloat, {1, 1, 1})};
  expect_near(lowered_item("aten.rnn_tanh.input", inputs, args, results, 0), {first, second}, 1e-6);
}

TEST(DecomposeRecurrent, CellsMatchTheirFormulas) {
  const double x = 0.7;
  const double h = -0.4;
  const double c = 0.9;
  const Unit lstm = {
      {0.1, 0.2, 0.3, 0.4}, {-0.5, 0.6, 0.7, 0.8}, {0.1, 0, 0.2, 0}, {0, 0.3, 0, -0.1}};
  const auto gate = [&](size_t i) { return lstm.input(i, x) + lstm.hidden(i, h); };
  const double cell = logistic(gate(1)) * c + logistic(gate(0)) * std::tanh(gate(2));
  const double hidden = logistic(gate(3)) * std::tanh(cell);
  const TensorSpec state = contiguous_spec(ScalarType::kFloat, {1, 1});
  const ArgumentList args = {"$", Argument::list({"$", "$"}), "$", "$", "$", "$"};
  const auto next_state = [&](size_t item) {
    return lowered_item("aten.lstm_cell.default", lstm.inputs({x, h, c}), args, {state, state},
                        item);
  };
  expect_near(next_state(0), {hidden});
  expect_near(next_state(1), {cell});

  const Unit gru = {{0.1, 0.2, 0.3}, {-0.5, 0.6, 0.7}, {0.1, 0, 0.2}, {0, 0.3, 0.4}};
  const double reset = logistic(gru.input(0, x) + gru.hidden(0, h));
  const double update = logistic(gru.input(1, x) + gru.hidden(1, h));
  const double candidate = std::tanh(gru.input(2, x) + reset * gru.hidden(2, h));
  expect_call("aten.gru_cell.default", gru.inputs({x, h}), {}, {1, 1},
              {(h - candidate) * update + candidate});

  const Unit plain = {{0.3}, {0.7}, {0.1}, {0.2}};
  const double sum = plain.input(0, x) + plain.hidden(0, h);
  expect_call("aten.rnn_tanh_cell.default", plain.inputs({x, h}), {}, {1, 1}, {std::tanh(sum)});
  expect_call("aten.rnn_relu_cell.default", plain.inputs({x, h}), {}, {1, 1}, {std::max(sum, 0.0)});
}

// The network has two layers of one unit per direction.
TEST(DecomposeRecurrent, BidirectionalLayersMatchALoopOverTheSteps) {
  const Values x = {0.5, -1, 2};
  struct Direction {
    Values input_weight;
    double hidden_weight;
  };
  const std::array<Direction, 4> directions = {Direction{{0.3}, 0.7}, Direction{{-0.4}, 0.2},
                                               Direction{{0.6, -0.1}, 0.5},
                                               Direction{{0.2, 0.9}, -0.3}};
  std::vector<Values> steps = {{0.5}, {-1}, {2}};
  Values last_states;
  for (size_t layer = 0; layer < 2; ++layer) {
    std::vector<Values> next(3);
    for (size_t d = 0; d < 2; ++d) {
      const Direction& direction = directions[layer * 2 + d];
      double h = 0;
      Values outputs(3);
      for (size_t i = 0; i < 3; ++i) {
        const size_t at = d == 0 ? i : 2 - i;
        double sum = direction.hidden_weight * h;
        for (size_t j = 0; j < steps[at].size(); ++j) {
          sum += direction.input_weight[j] * steps[at][j];
        }
        outputs[at] = h = std::tanh(sum);
      }
      for (size_t i = 0; i < 3; ++i) next[i].push_back(outputs[i]);
      last_states.push_back(h);
    }
    steps = next;
  }
  std::vector<TensorData> inputs = {floats({1, 3, 1}, x), floats({4, 1, 1}, Values(4, 0))};
  for (const Direction& direction : directions) {
    const auto width = static_cast<int64_t>(direction.input_weight.size());
    inputs.push_back(floats({1, width}, direction.input_weight));
    inputs.push_back(floats({1, 1}, {direction.hidden_weight}));
  }
  const Argument weights = Argument::list(ArgumentList(8, "$"));
  const ArgumentList args = {"$", "$", weights, false, 2, 0.0, false, true, true};
  const Value::Items results = {contiguous_spec(ScalarType::kFloat, {1, 3, 2}),
                                contiguous_spec(ScalarType::kFloat, {4, 1, 1})};
  Values output;
  for (const Values& step : steps) output.insert(output.end(), step.begin(), step.end());
  expect_near(lowered_item("aten.rnn_tanh.input", inputs, args, results, 0), output);
  expect_near(lowered_item("aten.rnn_tanh.input", inputs, args, results, 1), last_states);
}

}  // namespace
}  // namespace vitrine::aot
