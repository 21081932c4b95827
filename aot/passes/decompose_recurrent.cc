// Decompositions of recurrent layers: step by step, as PyTorch's own.
#include <algorithm>
#include <tuple>
#include <utility>

#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// Each becomes some twenty calls.
constexpr int64_t kMaxSteps = 1 << 16;

struct Weights {
  Node* input = nullptr;
  Node* hidden = nullptr;
  Argument input_bias;
  Argument hidden_bias;
  Node* projection = nullptr;  // of LSTMs
};

struct Layers {
  std::vector<Weights> weights;  // forward and backward of the first layer, of the second, ...
  int64_t count = 0;
  bool bidirectional = false;
  bool batch_first = false;
  bool has_biases = false;
};

// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
Layers read_layers(Decomposition& to, bool may_project) {
  if (to.boolean("train")) to.refuse("it is in training mode");
  Layers layers;
  layers.has_biases = to.boolean("has_biases");
  layers.count = to.integer("num_layers");
  layers.bidirectional = to.boolean("bidirectional");
  layers.batch_first = to.boolean("batch_first");
  const Argument params = to.arg("params");
  if (params.list() == nullptr || layers.count < 1) to.refuse("its weights are not a list");
  const ArgumentList& items = *params.list();
  const size_t directions = layers.bidirectional ? 2 : 1;
  const size_t plain = layers.has_biases ? 4 : 2;
  const size_t parts = static_cast<size_t>(layers.count) * directions;
  const size_t each = items.size() / std::max<size_t>(parts, 1);
  const bool projects = may_project && each == plain + 1;
  if (each * parts != items.size() || !(each == plain || projects)) {
    to.refuse("the number of weights is wrong");
  }
  for (size_t i = 0; i < items.size(); i += each) {
    Weights weights;
    for (size_t j = 0; j < each; ++j) {
      if (items[i + j].node() == nullptr || items[i + j].node()->tensor() == nullptr) {
        to.refuse("a weight is not a tensor");
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

// Items of the first dim.
std::vector<Node*> unbind(Decomposition& to, Node* x) {
  const SymInt& size = x->tensor()->sizes.at(0);
  if (!size.is_static()) to.refuse("its length or number of layers is a symbol");
  if (size.value() > kMaxSteps) to.refuse("it has too many steps");
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
  const SymInt& whole = x->tensor()->sizes.at(static_cast<size_t>(dim));
  if (!whole.is_static() || whole.value() % count != 0) to.refuse("its gates do not divide");
  const Dims sizes(static_cast<size_t>(count), whole.value() / count);
  Node* pieces = to("split_with_sizes", x, sizes, dim);
  std::vector<Node*> items;
  for (size_t i = 0; i < sizes.size(); ++i) items.push_back(to.item(pieces, i));
  return items;
}

Node* add(Decomposition& to, Node* a, Node* b) { return to.add(a, b); }
Node* multiply(Decomposition& to, Node* a, Node* b) { return to.mul(a, b); }
Node* sigmoid(Decomposition& to, Node* x) { return to("sigmoid", x); }
Node* tanh(Decomposition& to, Node* x) { return to("tanh", x); }
int64_t last_dim(const Node* x) { return static_cast<int64_t>(x->tensor()->rank()) - 1; }

// The next hidden state and cell, of the gates before their curves.
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

// The outputs of one direction of one layer.
struct Ends {
  Node* output = nullptr;  // of all steps
  Node* hidden = nullptr;
  Node* cell = nullptr;  // of LSTMs
};

Node* projected_input(Decomposition& to, Node* x, const Weights& weights, bool backward) {
  Node* projected = linear(to, x, weights.input, weights.input_bias);
  if (backward) projected = to.make("aten.flip.default", {projected, Dims{0}});
  return projected;
}

Node* joined(Decomposition& to, std::vector<Node*> steps, bool backward) {
  if (backward) std::ranges::reverse(steps);
  return to.make("aten.cat.default", {Argument::list(ArgumentList(steps.begin(), steps.end()))});
}

Node* without_first_dim(Decomposition& to, Node* x) { return to.squeeze(x, 0); }

Ends lstm_layer(Decomposition& to, Node* x, Node* hidden, Node* cell, const Weights& weights,
                bool backward) {
  hidden = to.unsqueeze(hidden, 0);
  cell = to.unsqueeze(cell, 0);
  std::vector<Node*> steps;
  for (Node* step : unbind(to, projected_input(to, x, weights, backward))) {
    std::tie(hidden, cell) =
        lstm_step(to, add(to, linear(to, hidden, weights.hidden, weights.hidden_bias), step), cell);
    if (weights.projection != nullptr) hidden = linear(to, hidden, weights.projection, {});
    steps.push_back(hidden);
  }
  Ends ends;
  ends.output = joined(to, steps, backward);
  ends.hidden = without_first_dim(to, hidden);
  ends.cell = without_first_dim(to, cell);
  return ends;
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

using Step = Node* (*)(Decomposition&, Node*, Node*, const Weights&);

Ends layer(Decomposition& to, Node* x, Node* hidden, const Weights& weights, bool backward,
           Step step) {
  Node* input = projected_input(to, x, weights, backward);
  hidden = to.unsqueeze(hidden, 0);
  std::vector<Node*> steps;
  for (Node* each : unbind(to, input)) {
    hidden = step(to, each, hidden, weights);
    steps.push_back(hidden);
  }
  Ends ends;
  ends.output = joined(to, steps, backward);
  ends.hidden = without_first_dim(to, hidden);
  return ends;
}

// All layers; `run(x, index, weights, backward)` is one direction of one.
template <class Run>
Node* all_layers(Decomposition& to, const Layers& layers, std::vector<Ends>& ends, Run run) {
  Node* x = to.self();
  if (x->tensor()->rank() != 3) to.refuse("its input has no batch");
  if (layers.batch_first) x = to.transpose(x, 0, 1);
  const size_t directions = layers.bidirectional ? 2 : 1;
  for (size_t i = 0; i < layers.weights.size(); i += directions) {
    ends.push_back(run(x, i, layers.weights[i], false));
    Node* output = ends.back().output;
    if (layers.bidirectional) {
      ends.push_back(run(x, i + 1, layers.weights[i + 1], true));
      output = to.make("aten.cat.default", {Argument::list({output, ends.back().output}), 2});
    }
    x = output;
  }
  return layers.batch_first ? to.transpose(x, 0, 1) : x;
}

Node* stacked(Decomposition& to, const std::vector<Ends>& ends, Node* Ends::*member) {
  ArgumentList items;
  for (const Ends& each : ends) items.emplace_back(each.*member);
  return to.make("aten.stack.default", {Argument::list(std::move(items))});
}

}  // namespace

void lstm(Decomposition& to) {
  const Argument states = to.arg("hx");
  if (states.list() == nullptr || states.list()->size() != 2)
    to.refuse("it does not have two states");
  for (const Argument& state : *states.list()) {
    if (state.node() == nullptr || state.node()->tensor() == nullptr ||
        state.node()->tensor()->rank() != 3) {
      to.refuse("a state is not a tensor of three dims");
    }
  }
  const Layers layers = read_layers(to, true);
  const std::vector<Node*> hidden = unbind(to, (*states.list())[0].node());
  const std::vector<Node*> cells = unbind(to, (*states.list())[1].node());
  if (hidden.size() != layers.weights.size() || cells.size() != layers.weights.size()) {
    to.refuse("the number of states differs from the number of layers");
  }
  std::vector<Ends> ends;
  Node* output =
      all_layers(to, layers, ends, [&](Node* x, size_t i, const Weights& weights, bool backward) {
        return lstm_layer(to, x, hidden[i], cells[i], weights, backward);
      });
  to.replace_items({output, stacked(to, ends, &Ends::hidden), stacked(to, ends, &Ends::cell)});
}

namespace {

template <Step step>
void recurrent(Decomposition& to) {
  if (to.tensor("hx")->tensor()->rank() != 3) to.refuse("its state does not have three dims");
  const Layers layers = read_layers(to, false);
  const std::vector<Node*> hidden = unbind(to, to.tensor("hx"));
  if (hidden.size() != layers.weights.size()) {
    to.refuse("the number of states differs from the number of layers");
  }
  std::vector<Ends> ends;
  Node* output =
      all_layers(to, layers, ends, [&](Node* x, size_t i, const Weights& weights, bool backward) {
        return layer(to, x, hidden[i], weights, backward, step);
      });
  to.replace_items({output, stacked(to, ends, &Ends::hidden)});
}

// One step: (input, hx, w_ih, w_hh, b_ih, b_hh).
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
  if (states.list() == nullptr || states.list()->size() != 2)
    to.refuse("it does not have two states");
  for (const Argument& state : *states.list()) {
    if (state.node() == nullptr || state.node()->tensor() == nullptr) {
      to.refuse("a state is not a tensor");
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

template <Step step>
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
