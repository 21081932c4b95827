// Decompositions of recurrent layers. Each step of a sequence becomes separate calls.
#include <algorithm>
#include <tuple>
#include <utility>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// Limits the size of the graph, because each step becomes about twenty calls.
constexpr int64_t kMaxSteps = 1 << 16;

struct Weights {
  Node* input = nullptr;
  Node* hidden = nullptr;
  Argument input_bias;
  Argument hidden_bias;
  Node* projection = nullptr;  // only for LSTMs
};

struct Layers {
  std::vector<Weights> weights;  // forward and backward direction of each layer
  int64_t count = 0;
  bool bidirectional = false;
  bool batch_first = false;
  bool has_biases = false;
};

// Reads (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first).
Layers read_layers(Decomposition& to, bool may_project) {
  if (to.boolean("train"))
    to.refuse("training mode is not supported; export the model in evaluation mode");
  Layers layers;
  layers.has_biases = to.boolean("has_biases");
  layers.count = to.integer("num_layers");
  layers.bidirectional = to.boolean("bidirectional");
  layers.batch_first = to.boolean("batch_first");
  const Argument params = to.arg("params");
  if (params.list() == nullptr || layers.count < 1)
    to.refuse("params must be a list, and num_layers must be positive");
  const ArgumentList& items = *params.list();
  const size_t directions = layers.bidirectional ? 2 : 1;
  const size_t plain = layers.has_biases ? 4 : 2;
  const size_t runs = static_cast<size_t>(layers.count) * directions;
  const size_t per_run = items.size() / std::max<size_t>(runs, 1);
  const bool projects = may_project && per_run == plain + 1;
  if (per_run * runs != items.size() || !(per_run == plain || projects)) {
    to.refuse("params has the wrong number of weights for the number of layers");
  }
  for (size_t i = 0; i < items.size(); i += per_run) {
    Weights weights;
    for (size_t j = 0; j < per_run; ++j) {
      if (items[i + j].node() == nullptr || items[i + j].node()->tensor() == nullptr) {
        to.refuse("every weight must be a tensor");
      }
    }
    weights.input = items[i].node();
    weights.hidden = items[i + 1].node();
    if (layers.has_biases) {
      weights.input_bias = items[i + 2];
      weights.hidden_bias = items[i + 3];
    }
    if (projects) weights.projection = items[i + plain].node();
    layers.weights.push_back(std::move(weights));
  }
  return layers;
}

Node* linear(Decomposition& to, Node* x, Node* weight, const Argument& bias) {
  return to.make("aten.linear.default",
                 bias.is_none() ? ArgumentList{x, weight} : ArgumentList{x, weight, bias});
}

// Splits `x` along its first dim into one node per index.
std::vector<Node*> unbind(Decomposition& to, Node* x) {
  const SymInt& size = x->tensor()->sizes.at(0);
  if (!size.is_static())
    to.refuse("the sequence length and the number of layers must not be symbolic");
  if (size.value() > kMaxSteps) to.refuse("the sequence is longer than the maximum of 65536 steps");
  std::vector<Node*> slices;
  for (int64_t i = 0; i < size.value(); ++i) {
    slices.push_back(to.make("aten.slice.Tensor", {x, 0, i, i + 1}));
  }
  for (Node*& slice : slices) {
    slice = to.squeeze(slice, 0);
  }
  return slices;
}

std::vector<Node*> chunk(Decomposition& to, Node* x, int64_t count, int64_t dim) {
  const SymInt& size = x->tensor()->sizes.at(static_cast<size_t>(dim));
  if (!size.is_static() || size.value() % count != 0)
    to.refuse("the size of the gate dim must be a multiple of the number of gates");
  const Dims sizes(static_cast<size_t>(count), size.value() / count);
  Node* split = to("split_with_sizes", x, sizes, dim);
  std::vector<Node*> items;
  for (size_t i = 0; i < sizes.size(); ++i) items.push_back(to.item(split, i));
  return items;
}

Node* add(Decomposition& to, Node* a, Node* b) { return to.add(a, b); }
Node* multiply(Decomposition& to, Node* a, Node* b) { return to.mul(a, b); }
Node* sigmoid(Decomposition& to, Node* x) { return to("sigmoid", x); }
Node* tanh(Decomposition& to, Node* x) { return to("tanh", x); }
int64_t last_dim(const Node* x) { return static_cast<int64_t>(x->tensor()->rank()) - 1; }

// Computes the next LSTM state and cell. `gates` are the values before the activation functions.
std::pair<Node*, Node*> lstm_step(Decomposition& to, Node* gates, Node* cell) {
  const std::vector<Node*> parts = chunk(to, gates, 4, last_dim(gates));
  Node* in = sigmoid(to, parts[0]);
  Node* forget = sigmoid(to, parts[1]);
  Node* candidate = tanh(to, parts[2]);
  Node* out = sigmoid(to, parts[3]);
  Node* kept = multiply(to, forget, cell);
  cell = add(to, kept, multiply(to, in, candidate));
  return {multiply(to, out, tanh(to, cell)), cell};
}

struct DirectionResults {
  Node* output = nullptr;  // outputs of all steps
  Node* hidden = nullptr;  // final hidden state
  Node* cell = nullptr;    // final cell, only for LSTMs
};

Node* projected_input(Decomposition& to, Node* x, const Weights& weights, bool backward) {
  Node* projected = linear(to, x, weights.input, weights.input_bias);
  if (backward) projected = to.make("aten.flip.default", {projected, Dims{0}});
  return projected;
}

Node* concatenated_steps(Decomposition& to, std::vector<Node*> steps, bool backward) {
  if (backward) std::ranges::reverse(steps);
  return to.make("aten.cat.default", {Argument::list(ArgumentList(steps.begin(), steps.end()))});
}

Node* without_first_dim(Decomposition& to, Node* x) { return to.squeeze(x, 0); }

DirectionResults lstm_layer(Decomposition& to, Node* x, Node* hidden, Node* cell,
                            const Weights& weights, bool backward) {
  hidden = to.unsqueeze(hidden, 0);
  cell = to.unsqueeze(cell, 0);
  std::vector<Node*> steps;
  for (Node* step : unbind(to, projected_input(to, x, weights, backward))) {
    std::tie(hidden, cell) =
        lstm_step(to, add(to, linear(to, hidden, weights.hidden, weights.hidden_bias), step), cell);
    if (weights.projection != nullptr) hidden = linear(to, hidden, weights.projection, {});
    steps.push_back(hidden);
  }
  DirectionResults results;
  results.output = concatenated_steps(to, steps, backward);
  results.hidden = without_first_dim(to, hidden);
  results.cell = without_first_dim(to, cell);
  return results;
}

Node* gru_step(Decomposition& to, Node* step, Node* hidden, const Weights& weights) {
  const std::vector<Node*> of_input = chunk(to, step, 3, last_dim(step));
  const std::vector<Node*> of_hidden =
      chunk(to, linear(to, hidden, weights.hidden, weights.hidden_bias), 3, last_dim(hidden));
  Node* reset = sigmoid(to, add(to, of_hidden[0], of_input[0]));
  Node* update = sigmoid(to, add(to, of_hidden[1], of_input[1]));
  Node* candidate = tanh(to, add(to, of_input[2], multiply(to, of_hidden[2], reset)));
  Node* difference = to.sub(hidden, candidate);
  return add(to, multiply(to, difference, update), candidate);
}
template <int kind>  // 0: tanh, 1: relu
Node* plain_step(Decomposition& to, Node* step, Node* hidden, const Weights& weights) {
  Node* sum = add(to, linear(to, hidden, weights.hidden, weights.hidden_bias), step);
  return kind == 0 ? tanh(to, sum) : to("relu", sum);
}

// Computes the next hidden state from (step input, hidden state, weights).
using StepFunction = Node* (*)(Decomposition&, Node*, Node*, const Weights&);

DirectionResults layer(Decomposition& to, Node* x, Node* hidden, const Weights& weights,
                       bool backward, StepFunction step) {
  Node* input = projected_input(to, x, weights, backward);
  hidden = to.unsqueeze(hidden, 0);
  std::vector<Node*> steps;
  for (Node* step_input : unbind(to, input)) {
    hidden = step(to, step_input, hidden, weights);
    steps.push_back(hidden);
  }
  DirectionResults results;
  results.output = concatenated_steps(to, steps, backward);
  results.hidden = without_first_dim(to, hidden);
  return results;
}

// Builds all layers and returns the last layer's output. `run(x, index, weights, backward)` builds
// one direction of one layer. `weights` is `layers.weights[index]`.
template <class Run>
Node* all_layers(Decomposition& to, const Layers& layers, std::vector<DirectionResults>& results,
                 Run run) {
  Node* x = to.self();
  if (x->tensor()->rank() != 3) to.refuse("the input must have 3 dims");
  if (layers.batch_first) x = to.transpose(x, 0, 1);
  const size_t directions = layers.bidirectional ? 2 : 1;
  for (size_t i = 0; i < layers.weights.size(); i += directions) {
    results.push_back(run(x, i, layers.weights[i], false));
    Node* output = results.back().output;
    if (layers.bidirectional) {
      results.push_back(run(x, i + 1, layers.weights[i + 1], true));
      output = to.make("aten.cat.default", {Argument::list({output, results.back().output}), 2});
    }
    x = output;
  }
  return layers.batch_first ? to.transpose(x, 0, 1) : x;
}

Node* stacked(Decomposition& to, const std::vector<DirectionResults>& results,
              Node* DirectionResults::*member) {
  ArgumentList items;
  for (const DirectionResults& direction : results) items.emplace_back(direction.*member);
  return to.make("aten.stack.default", {Argument::list(std::move(items))});
}

}  // namespace

void lstm(Decomposition& to) {
  const Argument states = to.arg("hx");
  if (states.list() == nullptr || states.list()->size() != 2) to.refuse("hx must have two states");
  for (const Argument& state : *states.list()) {
    if (state.node() == nullptr || state.node()->tensor() == nullptr ||
        state.node()->tensor()->rank() != 3) {
      to.refuse("each state must be a tensor of 3 dims");
    }
  }
  const Layers layers = read_layers(to, true);
  const std::vector<Node*> hidden = unbind(to, (*states.list())[0].node());
  const std::vector<Node*> cells = unbind(to, (*states.list())[1].node());
  if (hidden.size() != layers.weights.size() || cells.size() != layers.weights.size()) {
    to.refuse("the number of states must be the number of layers times the number of directions");
  }
  std::vector<DirectionResults> results;
  Node* output = all_layers(to, layers, results,
                            [&](Node* x, size_t i, const Weights& weights, bool backward) {
                              return lstm_layer(to, x, hidden[i], cells[i], weights, backward);
                            });
  to.replace_items({output, stacked(to, results, &DirectionResults::hidden),
                    stacked(to, results, &DirectionResults::cell)});
}

namespace {

template <StepFunction step>
void recurrent(Decomposition& to) {
  if (to.tensor("hx")->tensor()->rank() != 3) to.refuse("hx must have 3 dims");
  const Layers layers = read_layers(to, false);
  const std::vector<Node*> hidden = unbind(to, to.tensor("hx"));
  if (hidden.size() != layers.weights.size()) {
    to.refuse("the number of states must be the number of layers times the number of directions");
  }
  std::vector<DirectionResults> results;
  Node* output = all_layers(to, layers, results,
                            [&](Node* x, size_t i, const Weights& weights, bool backward) {
                              return layer(to, x, hidden[i], weights, backward, step);
                            });
  to.replace_items({output, stacked(to, results, &DirectionResults::hidden)});
}

// Reads the weights of a cell(input, hx, w_ih, w_hh, b_ih, b_hh).
Weights read_cell(Decomposition& to) {
  Weights weights;
  weights.input = to.tensor("w_ih");
  weights.hidden = to.tensor("w_hh");
  weights.input_bias = to.arg("b_ih");
  weights.hidden_bias = to.arg("b_hh");
  return weights;
}

}  // namespace

void lstm_cell(Decomposition& to) {
  const Argument states = to.arg("hx");
  if (states.list() == nullptr || states.list()->size() != 2) to.refuse("hx must have two states");
  for (const Argument& state : *states.list()) {
    if (state.node() == nullptr || state.node()->tensor() == nullptr) {
      to.refuse("each state must be a tensor");
    }
  }
  const Weights weights = read_cell(to);
  Node* of_hidden = linear(to, (*states.list())[0].node(), weights.hidden, weights.hidden_bias);
  Node* of_input = linear(to, to.self(), weights.input, weights.input_bias);
  const auto [hidden, cell] =
      lstm_step(to, add(to, of_hidden, of_input), (*states.list())[1].node());
  to.replace_items({hidden, cell});
}

namespace {

template <StepFunction step>
void recurrent_cell(Decomposition& to) {
  const Weights weights = read_cell(to);
  Node* of_input = linear(to, to.self(), weights.input, weights.input_bias);
  to.replace(step(to, of_input, to.tensor("hx"), weights));
}

}  // namespace

void gru(Decomposition& to) { recurrent<gru_step>(to); }
void gru_cell(Decomposition& to) { recurrent_cell<gru_step>(to); }
void rnn_relu(Decomposition& to) { recurrent<plain_step<1>>(to); }
void rnn_relu_cell(Decomposition& to) { recurrent_cell<plain_step<1>>(to); }
void rnn_tanh(Decomposition& to) { recurrent<plain_step<0>>(to); }
void rnn_tanh_cell(Decomposition& to) { recurrent_cell<plain_step<0>>(to); }

}  // namespace vitrine::aot::decompositions
