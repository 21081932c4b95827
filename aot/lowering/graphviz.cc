#include <fmt/format.h>

#include "aot/graph/lowered_module.h"
#include "aot/lowering/delegated_graph.h"

namespace vitrine::delegation {
namespace {

using aot::ExportedProgram;
using aot::Graph;
using aot::LoweredBackendModule;
using aot::Node;

std::string dot_string(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (c == '\n') {
      made += "\\n";
    } else {
      made += c;
    }
  }
  return made + "\"";
}

std::string shape_of(const aot::Value& value) {
  if (const aot::TensorSpec* tensor = value.tensor()) return aot::to_text(*tensor);
  std::string text;
  if (const aot::Value::Items* items = value.items()) {
    for (const aot::Value& item : *items) {
      if (!text.empty()) text += ", ";
      text += shape_of(item);
    }
  }
  return text;
}

// Node names are unique only in a graph, so identifiers begin with the path of the cluster.
class GraphvizWriter {
 public:
  std::string write(const ExportedProgram& program) {
    text_ = "digraph delegation {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n";
    write_graph(*program.graph, "", "  ", &program);
    return text_ + edges_ + "}\n";
  }

 private:
  static std::string id(std::string_view path, const Node& node) {
    return dot_string(fmt::format("{}{}", path, node.name()));
  }

  static bool is_shown(const Node& node, const ExportedProgram* program) {
    if (node.kind() == Node::Kind::kGetAttr) return false;
    if (node.kind() != Node::Kind::kPlaceholder || program == nullptr) return true;
    const aot::InputSpec* spec = program->input_of(node.name());
    return spec == nullptr || !aot::has_data(spec->kind);
  }

  static std::string label(const Node& node) {
    if (node.kind() == Node::Kind::kOutput) return "output";
    const std::string head =
        node.is_call() ? node.target().name() : fmt::format("input {}", node.name());
    const std::string shape = shape_of(node.meta.value);
    return shape.empty() ? head : fmt::format("{}\n{}", head, shape);
  }

  // Writes nodes and edges of a graph. Omits the weights of the graph's `program`, which may be
  // null.
  void write_graph(const Graph& graph, const std::string& path, const std::string& indent,
                   const ExportedProgram* program) {
    for (const Node& node : graph.nodes()) {
      if (!is_shown(node, program)) continue;
      if (const LoweredBackendModule* module = module_of(graph, node)) {
        write_delegate(node, *module, path, indent);
        continue;
      }
      text_ += fmt::format("{}{} [label={}];\n", indent, id(path, node), dot_string(label(node)));
      for (const Node* input : node.inputs()) write_edges(graph, *input, node, path, program);
    }
  }

  static const LoweredBackendModule* module_of(const Graph& graph, const Node& call) {
    if (!call.is_call() || call.args().empty()) return nullptr;
    const Node* attribute = call.args()[0].node();
    if (attribute == nullptr || attribute->kind() != Node::Kind::kGetAttr) return nullptr;
    const auto found = graph.lowered_modules().find(attribute->attribute());
    return found == graph.lowered_modules().end() ? nullptr : found->second.get();
  }

  // Writes the edges from `input` to `node`, which must not be a delegate call.
  void write_edges(const Graph& graph, const Node& input, const Node& node, const std::string& path,
                   const ExportedProgram* program) {
    if (input.kind() == Node::Kind::kGetAttr) {
      const auto subgraph = graph.subgraphs().find(input.attribute());
      if (subgraph != graph.subgraphs().end()) {
        write_subgraph(subgraph->first, *subgraph->second, node, path);
      }
      return;
    }
    if (!is_shown(input, program)) return;
    const LoweredBackendModule* module = module_of(graph, input);
    edges_ +=
        fmt::format("  {} -> {};\n", module == nullptr ? id(path, input) : result_id(input, path),
                    id(path, node));
  }

  static std::string inner_path(const Node& call, const std::string& path) {
    return fmt::format("{}{}/", path, call.name());
  }

  // Returns the identifier of a delegate's output node. Edges from the delegate start at this node.
  static std::string result_id(const Node& call, const std::string& path) {
    return dot_string(inner_path(call, path) + "output");
  }

  void write_delegate(const Node& call, const LoweredBackendModule& module, const std::string& path,
                      const std::string& indent) {
    const std::string inner = inner_path(call, path);
    const Graph& graph = *module.original.graph;
    text_ += fmt::format(
        "{}subgraph {} {{\n{}  label={};\n{}  style=filled; color=lightblue;\n", indent,
        dot_string("cluster_" + inner), indent,
        dot_string(fmt::format("{} ({})", call.args()[0].node()->name(), module.backend_id)),
        indent);
    write_graph(graph, inner, indent + "  ", &module.original);
    text_ += indent + "}\n";
    size_t next = 1;
    for (const Node& node : graph.nodes()) {
      if (node.kind() != Node::Kind::kPlaceholder || !is_shown(node, &module.original)) continue;
      const Node* given = next < call.args().size() ? call.args()[next].node() : nullptr;
      ++next;
      if (given == nullptr) continue;
      edges_ += fmt::format(
          "  {} -> {};\n",
          module_of(call.graph(), *given) == nullptr ? id(path, *given) : result_id(*given, path),
          id(inner, node));
    }
  }

  void write_subgraph(const std::string& name, const Graph& graph, const Node& user,
                      const std::string& path) {
    const std::string inner = fmt::format("{}{}/{}/", path, user.name(), name);
    text_ += fmt::format("  subgraph {} {{\n    label={}; style=dashed;\n",
                         dot_string("cluster_" + inner), dot_string(name));
    write_graph(graph, inner, "    ", nullptr);
    text_ += "  }\n";
    if (const Node* output = graph.output()) {
      edges_ += fmt::format("  {} -> {} [style=dashed];\n", id(inner, *output), id(path, user));
    }
  }

  std::string text_;
  std::string edges_;
};

}  // namespace

std::string format_graphviz(const ExportedProgram& program) {
  return GraphvizWriter().write(program);
}

}  // namespace vitrine::delegation
