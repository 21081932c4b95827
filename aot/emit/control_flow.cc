#include "aot/emit/control_flow.h"

#include <fmt/format.h>

#include <vector>

#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

bool is_map(const Node& node) { return node.is_call() && node.target().is("map_impl"); }
bool is_scan(const Node& node) { return node.is_call() && node.target().is("scan"); }

// The graph that an argument names.
const Graph& graph_of(const Node& call, size_t index, const char* what) {
  const Argument* arg = call.arg(index);
  const Node* getter = arg == nullptr ? nullptr : arg->node();
  if (getter == nullptr || getter->kind() != Node::Kind::kGetAttr) {
    fail_at(call, fmt::format("{} is not a subgraph", what));
  }
  const auto found = call.graph().subgraphs().find(getter->attribute());
  if (found == call.graph().subgraphs().end()) {
    fail_at(call, fmt::format("the graph has no subgraph {}", getter->attribute()));
  }
  return *found->second;
}

ArgumentList list_of(const Node& call, size_t index) {
  const Argument* arg = call.arg(index);
  if (arg == nullptr || arg->list() == nullptr) fail_at(call, "it lacks a list of operands");
  return *arg->list();
}

const TensorSpec& tensor_of(const Node& loop, const Argument& argument) {
  if (argument.node() == nullptr || argument.node()->tensor() == nullptr) {
    fail_at(loop, "it runs over something that is not a tensor");
  }
  return *argument.node()->tensor();
}

// Whether the numbers among the sizes are equal; symbols of two graphs may have two names.
void check_sizes(const Node& loop, const char* what, const TensorSpec& whole, size_t first,
                 const Node* part) {
  const TensorSpec* spec = part == nullptr ? nullptr : part->tensor();
  bool fits = spec != nullptr && spec->dtype == whole.dtype && spec->rank() + first == whole.rank();
  for (size_t i = 0; fits && i < spec->rank(); ++i) {
    const SymInt& a = spec->sizes[i];
    const SymInt& b = whole.sizes[i + first];
    fits = !a.is_static() || !b.is_static() || a == b;
  }
  if (fits) return;
  fail_at(loop, fmt::format("{} is {}, which does not fit {}", what, to_text(whole),
                            spec == nullptr ? "no tensor" : to_text(*spec)));
}

// The specs of its results.
std::vector<const TensorSpec*> specs_of(const Node& loop) {
  if (loop.tensor() != nullptr) return {loop.tensor()};
  std::vector<const TensorSpec*> specs;
  const Value::Items* items = loop.meta.value.items();
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    if ((*items)[i].tensor() == nullptr) fail_at(loop, "a result is not a tensor");
    specs.push_back((*items)[i].tensor());
  }
  return specs;
}

void check(const Node& node, const Loop& loop) {
  std::vector<const Node*> inputs;
  for (const Node& inner : loop.body->nodes()) {
    if (inner.kind() == Node::Kind::kPlaceholder) inputs.push_back(&inner);
  }
  if (inputs.size() != loop.inits.size() + loop.xs.size() + loop.others.size()) {
    fail_at(node, fmt::format("its body takes {} inputs, not {}", inputs.size(),
                              loop.inits.size() + loop.xs.size() + loop.others.size()));
  }
  const std::vector<const TensorSpec*> results = specs_of(node);
  if (results.size() != loop.results.size() || results.size() < loop.inits.size()) {
    fail_at(node,
            fmt::format("it has {} results, its body {}", results.size(), loop.results.size()));
  }
  if (loop.xs.empty()) fail_at(node, "it runs over nothing");
  for (size_t i = 0; i < loop.xs.size(); ++i) {
    const TensorSpec& x = tensor_of(node, loop.xs[i]);
    check_sizes(node, "what it runs over", x, 1, inputs[loop.inits.size() + i]);
    const SymInt& length = tensor_of(node, loop.xs[0]).sizes[0];
    if (length.is_static() && x.sizes[0].is_static() && !(length == x.sizes[0])) {
      fail_at(node, "it runs over tensors of several lengths");
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_carried = i < loop.inits.size();
    check_sizes(node, "a result", *results[i], is_carried ? 0 : 1, loop.results[i].node());
    if (!is_carried) continue;
    check_sizes(node, "what it carries", tensor_of(node, loop.inits[i]), 0, inputs[i]);
    check_sizes(node, "what it carries", *results[i], 0, inputs[i]);
  }
}

}  // namespace

bool is_condition(const Node& node) { return node.is_call() && node.target().is("cond"); }

const Graph& branch_of(const Node& condition, size_t which) {
  return graph_of(condition, 1 + which, "a branch");
}

bool is_loop(const Node& node) { return is_map(node) || is_scan(node); }

Loop loop_of(const Node& node) {
  Loop loop;
  loop.body = &graph_of(node, 0, "its body");
  size_t next = 1;
  if (is_scan(node)) loop.inits = list_of(node, next++);
  loop.xs = list_of(node, next++);
  loop.others = list_of(node, next);
  const Argument& results = loop.body->output()->need(0);
  loop.results = results.list() == nullptr ? ArgumentList{results} : *results.list();
  check(node, loop);
  return loop;
}

}  // namespace vitrine::aot
