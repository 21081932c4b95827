#include "aot/emit/control_flow.h"

#include <fmt/format.h>

#include <vector>

#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

bool is_map(const Node& node) { return node.is_call() && node.target().is("map_impl"); }
bool is_scan(const Node& node) { return node.is_call() && node.target().is("scan"); }

// Returns the subgraph that an argument of the call names. Error messages call the argument `what`.
const Graph& graph_of(const Node& call, size_t index, const char* what) {
  const Argument* arg = call.arg(index);
  const Node* getter = arg == nullptr ? nullptr : arg->node();
  if (getter == nullptr || getter->kind() != Node::Kind::kGetAttr) {
    fail_at(call, fmt::format("{} must be a subgraph of the graph", what));
  }
  const auto found = call.graph().subgraphs().find(getter->attribute());
  if (found == call.graph().subgraphs().end()) {
    fail_at(call, fmt::format("the graph has no subgraph {}", getter->attribute()));
  }
  return *found->second;
}

ArgumentList list_of(const Node& call, size_t index) {
  const Argument* arg = call.arg(index);
  if (arg == nullptr || arg->list() == nullptr)
    fail_at(call, fmt::format("argument {} must be a list of operands", index));
  return *arg->list();
}

const TensorSpec& tensor_of(const Node& loop, const Argument& argument) {
  if (argument.node() == nullptr || argument.node()->tensor() == nullptr) {
    fail_at(loop, "an operand of the loop is not a tensor");
  }
  return *argument.node()->tensor();
}

// Checks that `inner`, a tensor of the loop body, has the dtype of `outer`, and the sizes of
// `outer` without its `first` leading dims. Ignores dynamic sizes, because the two graphs may use
// different symbols for a size.
void check_sizes(const Node& loop, const char* what, const TensorSpec& outer, size_t first,
                 const Node* inner) {
  const TensorSpec* spec = inner == nullptr ? nullptr : inner->tensor();
  bool fits = spec != nullptr && spec->dtype == outer.dtype && spec->rank() + first == outer.rank();
  for (size_t i = 0; fits && i < spec->rank(); ++i) {
    const SymInt& a = spec->sizes[i];
    const SymInt& b = outer.sizes[i + first];
    fits = !a.is_static() || !b.is_static() || a == b;
  }
  if (fits) return;
  fail_at(loop, fmt::format("{} is {}, but in the body it is {}", what, to_text(outer),
                            spec == nullptr ? "not a tensor" : to_text(*spec)));
}

std::vector<const TensorSpec*> result_specs(const Node& loop) {
  if (loop.tensor() != nullptr) return {loop.tensor()};
  std::vector<const TensorSpec*> specs;
  const Value::Items* items = loop.meta.value.items();
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    if ((*items)[i].tensor() == nullptr) fail_at(loop, fmt::format("result {} is not a tensor", i));
    specs.push_back((*items)[i].tensor());
  }
  return specs;
}

std::vector<const Node*> inputs_of(const Node& call, const Graph& graph, size_t count) {
  std::vector<const Node*> inputs;
  for (const Node& inner : graph.nodes()) {
    if (inner.kind() == Node::Kind::kPlaceholder) inputs.push_back(&inner);
  }
  if (inputs.size() != count) {
    fail_at(call, fmt::format("its body has {} inputs, but the call has {}", inputs.size(), count));
  }
  return inputs;
}

void check(const Node& node, const Loop& loop) {
  const std::vector<const Node*> inputs =
      inputs_of(node, *loop.body, loop.inits.size() + loop.xs.size() + loop.others.size());
  const std::vector<const TensorSpec*> results = result_specs(node);
  if (results.size() != loop.results.size() || results.size() < loop.inits.size()) {
    fail_at(node, fmt::format("has {} results, but its body has {}", results.size(),
                              loop.results.size()));
  }
  if (loop.xs.empty()) fail_at(node, "needs at least one tensor to loop over");
  for (size_t i = 0; i < loop.xs.size(); ++i) {
    const TensorSpec& x = tensor_of(node, loop.xs[i]);
    check_sizes(node, "a tensor that it loops over", x, 1, inputs[loop.inits.size() + i]);
    const SymInt& length = tensor_of(node, loop.xs[0]).sizes[0];
    if (length.is_static() && x.sizes[0].is_static() && !(length == x.sizes[0])) {
      fail_at(node, "the tensors that it loops over have different lengths");
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_carried = i < loop.inits.size();
    check_sizes(node, "a result", *results[i], is_carried ? 0 : 1, loop.results[i].node());
    if (!is_carried) continue;
    check_sizes(node, "a carried value", tensor_of(node, loop.inits[i]), 0, inputs[i]);
    check_sizes(node, "a carried value", *results[i], 0, inputs[i]);
  }
}

}  // namespace

ArgumentList results_of(const Graph& graph) {
  const Argument& results = graph.output()->need(0);
  return results.list() == nullptr ? ArgumentList{results} : *results.list();
}

bool is_condition(const Node& node) { return node.is_call() && node.target().is("cond"); }

const Graph& branch_of(const Node& condition, size_t index) {
  return graph_of(condition, 1 + index, "a branch");
}

bool is_loop(const Node& node) { return is_map(node) || is_scan(node); }

Loop loop_of(const Node& node) {
  Loop loop;
  loop.body = &graph_of(node, 0, "its body");
  size_t next = 1;
  if (is_scan(node)) loop.inits = list_of(node, next++);
  loop.xs = list_of(node, next++);
  loop.others = list_of(node, next);
  loop.results = results_of(*loop.body);
  check(node, loop);
  return loop;
}

bool may_be_empty(const Loop& loop, const RangeConstraints& ranges) {
  const SymInt& length = loop.xs[0].node()->tensor()->sizes[0];
  if (length.is_static()) return length.value() == 0;
  return bounds(length.expression(), ranges).min.value_or(0) <= 0;
}

bool is_while_loop(const Node& node) { return node.is_call() && node.target().is("while_loop"); }

WhileLoop while_loop_of(const Node& node) {
  WhileLoop loop;
  loop.condition = &graph_of(node, 0, "its condition");
  loop.body = &graph_of(node, 1, "its body");
  loop.inits = list_of(node, 2);
  loop.others = list_of(node, 3);
  loop.results = results_of(*loop.body);
  const ArgumentList tests = results_of(*loop.condition);
  const TensorSpec* test =
      tests.size() != 1 || tests[0].node() == nullptr ? nullptr : tests[0].node()->tensor();
  if (test == nullptr || test->dtype != ScalarType::kBool || test->rank() != 0) {
    fail_at(node, "its condition must return a bool tensor of rank 0");
  }
  loop.test = tests[0];
  const std::vector<const TensorSpec*> results = result_specs(node);
  if (results.size() != loop.inits.size() || results.size() != loop.results.size()) {
    fail_at(node, fmt::format("has {} results, {} carried values and {} body results; the three "
                              "numbers must be equal",
                              results.size(), loop.inits.size(), loop.results.size()));
  }
  for (const Graph* graph : {loop.condition, loop.body}) {
    const auto inputs = inputs_of(node, *graph, loop.inits.size() + loop.others.size());
    for (size_t i = 0; i < results.size(); ++i) {
      check_sizes(node, "a carried value", tensor_of(node, loop.inits[i]), 0, inputs[i]);
      check_sizes(node, "a carried value", *results[i], 0, loop.results[i].node());
    }
  }
  return loop;
}

}  // namespace vitrine::aot
