// Inlines the subgraphs of calls that set a mode, such as torch.no_grad().
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// A higher-order operator with the arguments (mode..., subgraph, inputs...). torch.export converts
// torch.no_grad() and torch.autocast() blocks to such calls.
struct Wrapper {
  std::string_view name;
  size_t graph_index;
  int enabled_index;  // the argument that must be false; -1 if there is none
};
constexpr std::array kWrappers = {
    Wrapper{"wrap_with_set_grad_enabled", 1, -1},
    Wrapper{"wrap_with_autocast", 4, 2},
};

const Wrapper* wrapper_of(const Node& node) {
  if (!node.is_call() || node.target().dialect() != Dialect::kHigherOrder) return nullptr;
  const auto found = std::ranges::find(kWrappers, node.target().name(), &Wrapper::name);
  return found == kWrappers.end() ? nullptr : &*found;
}

// Moves the called subgraph out of its graph, or copies the subgraph if other nodes use it.
std::unique_ptr<Graph> take_body(Node& call, const Wrapper& wrapper) {
  Graph& graph = call.graph();
  const Argument* named = call.arg(wrapper.graph_index);
  Node* attribute = named == nullptr ? nullptr : named->node();
  if (attribute == nullptr || attribute->kind() != Node::Kind::kGetAttr ||
      !graph.subgraphs().contains(attribute->attribute())) {
    fail_at(call, fmt::format("argument {} is not a subgraph", wrapper.graph_index));
  }
  if (attribute->users().size() > 1) return graph.subgraphs().at(attribute->attribute())->copy();
  return std::move(graph.subgraphs().at(attribute->attribute()));
}

// Moves a constant or a subgraph from the body to the outer graph.
Node* move_attribute(Graph& graph, Graph& body, const Node& attribute, Node& before) {
  Node* made = graph.get_attr(graph.unique_name(attribute.attribute()), &before);
  made->meta = attribute.meta;
  if (const auto inner = body.subgraphs().find(attribute.attribute());
      inner != body.subgraphs().end()) {
    graph.subgraphs()[made->attribute()] = inner->second->copy();
  }
  if (const auto tensor = body.tensors().find(attribute.attribute());
      tensor != body.tensors().end()) {
    graph.tensors()[made->attribute()] = tensor->second;
  }
  return made;
}

// Inserts copies of the body's calls before `call`. Returns the body's results.
ArgumentList insert_body(Node& call, Graph& body, size_t first_input) {
  Graph& graph = call.graph();
  std::unordered_map<const Node*, Node*> made;
  ArgumentList results;
  size_t next = first_input;
  const auto outer = [&](Node* inner) { return made.at(inner); };
  for (Node& node : body.nodes()) {
    switch (node.kind()) {
      case Node::Kind::kPlaceholder: {
        const Argument* input = call.arg(next++);
        if (input == nullptr || input->node() == nullptr) {
          fail_at(call, "has fewer inputs than its subgraph");
        }
        made[&node] = input->node();
        break;
      }
      case Node::Kind::kGetAttr:
        made[&node] = move_attribute(graph, body, node, call);
        break;
      case Node::Kind::kCall: {
        ArgumentList args;
        for (const Argument& arg : node.args()) args.push_back(arg.with_nodes(outer));
        ArgumentMap kwargs;
        for (const auto& [key, arg] : node.kwargs())
          kwargs.emplace_back(key, arg.with_nodes(outer));
        Node* copy =
            graph.call(node.target(), std::move(args), std::move(kwargs), &call, node.name());
        copy->meta = node.meta;
        if (copy->meta.origin == nullptr) copy->meta.origin = call.meta.origin;
        made[&node] = copy;
        break;
      }
      case Node::Kind::kOutput: {
        const Argument result = node.args().at(0).with_nodes(outer);
        results = result.list() == nullptr ? ArgumentList{result} : *result.list();
        break;
      }
    }
  }
  return results;
}

void inline_call(ExportedProgram& program, Node& call, const Wrapper& wrapper) {
  const auto* enabled =
      wrapper.enabled_index < 0 ? nullptr : call.arg(static_cast<size_t>(wrapper.enabled_index));
  const bool* is_enabled = enabled == nullptr ? nullptr : enabled->get<bool>();
  if (wrapper.enabled_index >= 0 && (is_enabled == nullptr || *is_enabled)) {
    fail_at(call,
            "autocast is not supported, because it changes dtypes in a way that the graph does not "
            "show; export the model without it");
  }
  const std::unique_ptr<Graph> body = take_body(call, wrapper);
  const ArgumentList results = insert_body(call, *body, wrapper.graph_index + 1);
  const auto result = [&](size_t index) {
    Node* node = index < results.size() ? results[index].node() : nullptr;
    if (node == nullptr) fail_at(call, fmt::format("its subgraph does not return node {}", index));
    return node;
  };
  const std::vector<Node*> users = call.users();
  for (Node* user : users) {
    if (!user->calls(getitem())) continue;
    const auto* index = user->args().at(1).get<int64_t>();
    if (index == nullptr || *index < 0) {
      fail_at(*user, "the index of the result must be a non-negative integer");
    }
    replace_node(program, *user, *result(static_cast<size_t>(*index)));
  }
  Node* attribute = call.arg(wrapper.graph_index)->node();
  Graph& graph = call.graph();
  if (!call.users().empty()) {
    replace_node(program, call, *result(0));
  } else {
    graph.erase(&call);
  }
  if (!attribute->users().empty()) return;
  const std::string name = attribute->attribute();
  graph.erase(attribute);
  graph.subgraphs().erase(name);
}

Node* first_wrapped(Graph& graph, const Wrapper*& wrapper) {
  for (Node& node : graph.nodes()) {
    wrapper = wrapper_of(node);
    if (wrapper != nullptr) return &node;
  }
  return nullptr;
}

}  // namespace

void inline_wrapped(ExportedProgram& program) {
  for_each_graph(*program.graph, [&](Graph& graph) {
    const Wrapper* wrapper = nullptr;
    while (Node* call = first_wrapped(graph, wrapper)) inline_call(program, *call, *wrapper);
  });
}

}  // namespace vitrine::aot
