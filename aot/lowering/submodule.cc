#include "aot/lowering/submodule.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/lowering/fx_order.h"

namespace vitrine::aot {
namespace {

using NodeSet = std::unordered_set<const Node*>;

// Returns a node outside `nodes` on a path between two of these nodes, or null.
const Node* outside_between(std::span<Node* const> nodes, const NodeSet& inside) {
  NodeSet seen;
  std::vector<const Node*> open;
  for (const Node* node : nodes) {
    for (const Node* user : node->users()) {
      if (!inside.contains(user) && seen.insert(user).second) open.push_back(user);
    }
  }
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Node* user : node->users()) {
      if (inside.contains(user)) return node;
      if (seen.insert(user).second) open.push_back(user);
    }
  }
  return nullptr;
}

void check_nodes(const Graph& graph, std::span<Node* const> nodes, const NodeSet& inside,
                 std::string_view tag) {
  if (nodes.empty()) throw AotError(fmt::format("partition {} has no nodes", tag));
  for (const Node* node : nodes) {
    if (&node->graph() != &graph) {
      throw AotError(
          fmt::format("partition {}: node {} belongs to another graph", tag, node->name()));
    }
    if (node->kind() == Node::Kind::kOutput || node->kind() == Node::Kind::kPlaceholder) {
      throw AotError(fmt::format("partition {}: node {} is not a call", tag, node->name()));
    }
  }
  if (const Node* between = outside_between(nodes, inside)) {
    throw AotError(
        fmt::format("partition {}: the nodes cannot be one call, because node {} outside the "
                    "partition uses their results and computes their inputs",
                    tag, between->name()));
  }
}

// Copies nodes into a new graph, with placeholders for inputs from outside.
class Copier {
 public:
  Copier(const Graph& from, const NodeSet& inside) : from_(from), inside_(inside) {}

  void copy(const Node& node) {
    ArgumentList args;
    for (const Argument& arg : node.args()) args.push_back(mapped(arg));
    ArgumentMap kwargs;
    for (const auto& [key, arg] : node.kwargs()) kwargs.emplace_back(key, mapped(arg));
    Node* made = nullptr;
    if (node.kind() == Node::Kind::kGetAttr) {
      made = copy_attribute(node);
    } else {
      made = graph_->call(node.target(), std::move(args), std::move(kwargs), nullptr, node.name());
    }
    made->meta = node.meta;
    copies_[&node] = made;
  }

  Node* copy_of(const Node* node) const { return copies_.at(node); }
  const std::vector<Node*>& inputs() const { return inputs_; }
  Graph& graph() { return *graph_; }
  std::unique_ptr<Graph> take() { return std::move(graph_); }

 private:
  Argument mapped(const Argument& argument) {
    return argument.with_nodes([&](Node* node) { return map(node); });
  }

  Node* map(Node* node) {
    const auto found = copies_.find(node);
    if (found != copies_.end()) return found->second;
    Node* made = nullptr;
    if (node->kind() == Node::Kind::kGetAttr && !inside_.contains(node)) {
      made = copy_attribute(*node);
    } else {
      made = graph_->placeholder(node->name(), after_placeholders());
      last_placeholder_ = made;
      inputs_.push_back(node);
    }
    made->meta = node->meta;
    copies_[node] = made;
    return made;
  }

  Node* after_placeholders() {
    if (last_placeholder_ != nullptr) return last_placeholder_->next();
    return graph_->nodes().empty() ? nullptr : &graph_->nodes().front();
  }

  // Copies a get_attr node and its attribute. The original stays, because it may have other users.
  Node* copy_attribute(const Node& node) {
    const std::string& name = node.attribute();
    if (const auto found = from_.tensors().find(name); found != from_.tensors().end()) {
      graph_->tensors()[name] = found->second;
    } else if (const auto sub = from_.subgraphs().find(name); sub != from_.subgraphs().end()) {
      graph_->subgraphs()[name] = sub->second->copy();
    } else {
      graph_->lowered_modules()[name] = from_.lowered_modules().at(name);
    }
    return graph_->get_attr(name);
  }

  const Graph& from_;
  const NodeSet& inside_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::unordered_map<const Node*, Node*> copies_;
  std::vector<Node*> inputs_;
  Node* last_placeholder_ = nullptr;
};

// Copies the metadata of a result without its module stack, as torch.fx does.
NodeMeta result_meta(const Node& node) {
  NodeMeta meta = node.meta;
  meta.delegation_tag.clear();
  if (meta.origin != nullptr) {
    auto origin = std::make_shared<Origin>(*meta.origin);
    origin->module_stack.clear();
    origin->source_fn_stack.clear();
    meta.origin = std::move(origin);
  }
  return meta;
}

void rename_outputs(GraphSignature* signature, const std::string& from, const std::string& to) {
  if (signature == nullptr) return;
  for (OutputSpec& output : signature->outputs) {
    if (output.name == from) output.name = to;
  }
}

Value::Items values_of(const ArgumentList& results) {
  Value::Items values;
  for (const Argument& result : results) values.push_back(result.node()->meta.value);
  return values;
}

ArgumentList unpack_tuple(Graph& graph, Node* tuple) {
  ArgumentList results;
  const Value::Items items = *tuple->meta.value.items();
  for (size_t i = 0; i < items.size(); ++i) {
    Node* item = graph.call(getitem(), {tuple, static_cast<int64_t>(i)});
    item->meta.value = items[i];
    item->meta.origin = tuple->meta.origin;
    item->meta.debug_handle = tuple->meta.debug_handle;
    results.emplace_back(item);
  }
  return results;
}

}  // namespace

Submodule create_submodule_from_nodes(Graph& graph, std::span<Node* const> nodes,
                                      std::string_view tag, GraphSignature* signature) {
  const NodeSet inside(nodes.begin(), nodes.end());
  check_nodes(graph, nodes, inside, tag);
  std::vector<Node*> order;
  for (Node& node : graph.nodes()) {
    if (inside.contains(&node)) order.push_back(&node);
  }

  Copier copier(graph, inside);
  for (const Node* node : order) copier.copy(*node);
  std::vector<Node*> outputs;
  ArgumentList results;
  for (Node* node : order) {
    const bool is_output = std::ranges::any_of(
        node->users(), [&](const Node* user) { return !inside.contains(user); });
    if (!is_output) continue;
    outputs.push_back(node);
    results.emplace_back(copier.copy_of(node));
  }
  const bool is_tuple = outputs.size() == 1 && outputs[0]->meta.value.items() != nullptr;
  for (const Node* output : outputs) {
    if (is_tuple || output->meta.value.items() == nullptr) continue;
    throw AotError(fmt::format(
        "partition {}: nodes outside use the tuple of node {}; add its getitems to the partition",
        tag, output->name()));
  }
  if (is_tuple) results = unpack_tuple(copier.graph(), results[0].node());
  const Value::Items values = values_of(results);
  copier.graph().set_output(Argument::list(std::move(results)));

  ArgumentList inputs(copier.inputs().begin(), copier.inputs().end());
  const std::string name = fmt::format("fused_{}", tag);
  Node* call =
      graph.call(Target::of(name, Dialect::kHigherOrder), std::move(inputs), {}, nullptr, name);
  call->meta.value = values;
  if (is_tuple) {
    replace_uses(outputs[0], call);
  } else {
    for (size_t i = 0; i < outputs.size(); ++i) {
      Node* item = graph.call(getitem(), {call, static_cast<int64_t>(i)});
      if (outputs.size() > 1) item->meta = result_meta(*outputs[i]);
      item->meta.value = outputs[i]->meta.value;
      replace_uses(outputs[i], item);
      rename_outputs(signature, outputs[i]->name(), item->name());
    }
  }
  for (size_t i = order.size(); i-- > 0;) graph.erase(order[i]);
  legalize(graph);
  return {copier.take(), call};
}

void arrange_graph_placeholders(Graph& graph, const ExportedProgram& owning, std::string_view tag) {
  const std::vector<InputSpec>& inputs = owning.signature.inputs;
  const auto index_in_owning = [&](const Node* node) {
    return std::ranges::find(inputs, node->name(), &InputSpec::name) - inputs.begin();
  };
  const auto rank = [&](const Node* node) {
    const InputSpec* spec = owning.input_of(node->name());
    if (spec == nullptr || node->meta.delegation_tag != tag) return 2;
    if (spec->kind == InputSpec::Kind::kParameter) return 0;
    return spec->kind == InputSpec::Kind::kBuffer ? 1 : 2;
  };
  // Sorts the placeholders of `owning` by their order in `owning`. Other placeholders keep their
  // positions. The stable sort that follows keeps this order within each rank.
  std::vector<Node*> order = graph.placeholders();
  std::vector<Node*> own;
  for (Node* node : order) {
    if (owning.input_of(node->name()) != nullptr) own.push_back(node);
  }
  std::ranges::stable_sort(own, {}, index_in_owning);
  auto next = own.begin();
  for (Node*& node : order) {
    if (owning.input_of(node->name()) != nullptr) node = *next++;
  }
  std::ranges::stable_sort(order, {}, rank);
  for (Node& node : graph.nodes()) {
    if (node.kind() != Node::Kind::kPlaceholder) order.push_back(&node);
  }
  graph.reorder(order);
}

void arrange_graph_outputs(Submodule& submodule, std::span<const size_t> order) {
  const ArgumentList before = *submodule.graph->output()->need(0).list();
  ArgumentList after;
  std::vector<int64_t> new_index(before.size());
  for (const size_t index : order) {
    new_index.at(index) = static_cast<int64_t>(after.size());
    after.push_back(before.at(index));
  }
  submodule.call->meta.value = values_of(after);
  submodule.graph->output()->set_args({Argument::list(std::move(after))});
  for (Node* user : submodule.call->users()) {
    const int64_t* index = user->calls(getitem()) ? user->need(1).get<int64_t>() : nullptr;
    if (index == nullptr) {
      throw AotError(
          fmt::format("node {}: uses the results of {} without getitem; add a getitem for each "
                      "result",
                      user->name(), submodule.call->name()));
    }
    user->set_arg(1, new_index.at(static_cast<size_t>(*index)));
  }
}

}  // namespace vitrine::aot
