#include "aot/lowering/fx_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

// The operators that torch.fx schedules as early as possible. They compute or check single numbers.
constexpr std::array<std::string_view, 17> kScheduledFirst = {
    "_operator.add",
    "_operator.mul",
    "_operator.sub",
    "_operator.floordiv",
    "_operator.truediv",
    "_operator.mod",
    "_operator.le",
    "_operator.lt",
    "_operator.ge",
    "_operator.gt",
    "_operator.eq",
    "_operator.ne",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
    "aten._assert_async.msg",
    "aten.scalar_tensor.default",
    "aten._assert_scalar.default"};

bool is_scheduled_first(const Node& node) {
  return node.is_call() && node.target().dialect() != Dialect::kEdge &&
         std::ranges::count(kScheduledFirst, node.target().name()) != 0;
}

std::vector<Node*> sorted(const std::vector<Node*>& nodes) {
  std::unordered_map<const Node*, size_t> missing;  // number of inputs that are not sorted yet
  std::deque<Node*> ready;
  for (Node* node : nodes) {
    missing[node] = node->inputs().size();
    if (missing[node] == 0) ready.push_back(node);
  }
  std::vector<Node*> order;
  Node* output = nullptr;  // comes last, even after calls without users
  while (!ready.empty()) {
    Node* node = ready.front();
    ready.pop_front();
    if (node->kind() == Node::Kind::kOutput) {
      output = node;
      continue;
    }
    order.push_back(node);
    for (Node* user : node->users()) {
      if (--missing[user] != 0) continue;
      if (is_scheduled_first(*user)) {
        ready.push_front(user);
      } else {
        ready.push_back(user);
      }
    }
  }
  if (output != nullptr) order.push_back(output);
  if (order.size() < nodes.size()) {
    const auto waiting = std::ranges::find_if(nodes, [&](Node* n) { return missing[n] != 0; });
    throw AotError(fmt::format("node {}: depends on itself", (*waiting)->name()));
  }
  return order;
}

std::vector<Node*> all_nodes(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes()) nodes.push_back(&node);
  return nodes;
}

}  // namespace

void legalize(Graph& graph) { graph.reorder(sorted(all_nodes(graph))); }

void settle(Graph& graph) { graph.reorder(all_nodes(graph)); }

void replace_uses(Node* node, Node* other) {
  const std::vector<Node*> users = node->users();
  const auto map = [&](Node* input) { return input == node ? other : input; };
  for (Node* user : users) {
    ArgumentList args;
    for (const Argument& arg : user->args()) args.push_back(arg.with_nodes(map));
    ArgumentMap kwargs;
    for (const auto& [key, arg] : user->kwargs()) kwargs.emplace_back(key, arg.with_nodes(map));
    user->set_args({});
    user->set_kwargs({});
    user->set_args(std::move(args));
    user->set_kwargs(std::move(kwargs));
  }
}

}  // namespace vitrine::aot
