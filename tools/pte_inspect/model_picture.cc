#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "aot/graph/node_error.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "formats/etrecord/edge_graph.h"
#include "inspector/join/op_names.h"
#include "tools/pte_inspect/picture.h"

namespace vitrine::tools {
namespace {

using inspector::GraphPicture;
using NodeKind = GraphPicture::Kind;

// Formats the type of a node's result: "f32[1,3,s0]". Empty if the result is not a tensor.
std::string type_of(const aot::Node& node) {
  const aot::TensorSpec* spec = node.tensor();
  if (spec == nullptr) return "";
  std::string text = aot::to_text(*spec);
  std::erase(text, ' ');
  return text;
}

class ModelPicture {
 public:
  explicit ModelPicture(const DelegationReasons* reasons = nullptr) : reasons_(reasons) {}
  void add(const aot::ExportedProgram& model, size_t parent) {
    model_ = &model;
    add_graph(*model.graph, parent);
    add_outputs(parent);
  }
  size_t add_method(const std::string& name) {
    return add_node(NodeKind::kMethod, name, GraphPicture::kNoParent);
  }
  GraphPicture finish() {
    picture_.module_classes.assign(classes_.begin(), classes_.end());
    inspector::add_module_boxes(picture_);
    return std::move(picture_);
  }

 private:
  static void add_fact(GraphPicture::Node& node, const char* name, std::string text) {
    if (!text.empty()) node.facts.emplace_back(name, short_fact(std::move(text)));
  }

  size_t add_node(NodeKind kind, std::string label, size_t parent) {
    GraphPicture::Node& node = picture_.nodes.emplace_back();
    node.kind = kind;
    node.label = std::move(label);
    node.parent = parent;
    return picture_.nodes.size() - 1;
  }

  void add_graph(const aot::Graph& graph, size_t parent) {
    for (const aot::Node& node : graph.nodes()) {
      switch (node.kind()) {
        case aot::Node::Kind::kPlaceholder:
          add_input(node, parent, &graph == model_->graph.get());
          break;
        case aot::Node::Kind::kCall:
          add_call(node, parent);
          break;
        default:
          break;
      }
    }
  }

  void add_input(const aot::Node& node, size_t parent, bool is_main) {
    const aot::InputSpec* spec = is_main ? model_->input_of(node.name()) : nullptr;
    if (spec != nullptr && aot::has_data(spec->kind)) {
      weight_of_[&node] = spec;
      return;
    }
    const size_t made = add_node(NodeKind::kInput, node.name(), parent);
    picture_.nodes[made].type = picture_.nodes[made].note = type_of(node);
    made_[&node] = made;
  }

  void add_call(const aot::Node& node, size_t parent) {
    if (node.target().is("_operator.getitem") && node.arg(0) != nullptr) {
      const auto source = made_.find(node.arg(0)->node());  // an item of a result is that result
      if (source != made_.end()) {
        made_[&node] = source->second;
        return;
      }
    }
    const std::string& target = node.target().name();
    const size_t made = add_node(NodeKind::kOp, inspector::short_name(target), parent);
    made_[&node] = made;
    uint64_t largest = 0;
    for (const aot::Node* input : node.inputs()) {
      const std::string type = type_of(*input);
      if (const auto found = made_.find(input); found != made_.end()) {
        picture_.edges.push_back({found->second, made, type});
      }
      if (const auto found = weight_of_.find(input); found != weight_of_.end()) {
        const uint64_t bytes = inspector::bytes_of_type(type);
        GraphPicture::Node& op = picture_.nodes[made];
        op.constant_bytes += bytes;
        if (bytes >= largest) op.note = type;
        largest = std::max(largest, bytes);
        add_fact(op, "weight", fmt::format("{} {}", found->second->target, type));
      }
    }
    GraphPicture::Node& op = picture_.nodes[made];
    op.type = type_of(node);
    if (op.type.empty() && node.meta.value.items() != nullptr &&
        !node.meta.value.items()->empty()) {
      if (const aot::TensorSpec* spec = node.meta.value.items()->front().tensor()) {
        op.type = aot::to_text(*spec);
        std::erase(op.type, ' ');
      }
    }
    add_fact(op, "op", target);
    add_fact(op, "schema", schema_text(target));
    std::vector<std::string> arguments;
    for (const aot::Argument& argument : node.args()) {
      arguments.push_back(short_fact(aot::format_argument(argument)));
    }
    for (const auto& [name, argument] : node.kwargs()) {
      arguments.push_back(name + "=" + short_fact(aot::format_argument(argument)));
    }
    add_fact(op, "arguments", fmt::format("{}", fmt::join(arguments, ", ")));
    add_fact(op, "node", node.name());
    add_reasons(node, op);
    if (node.meta.origin != nullptr) add_origin(*node.meta.origin, op);
    for (const aot::Node* input : node.inputs()) {
      if (input->kind() != aot::Node::Kind::kGetAttr) continue;
      const auto found = node.graph().subgraphs().find(input->attribute());
      if (found == node.graph().subgraphs().end()) continue;
      const size_t box = add_node(NodeKind::kMethod, found->first, made);
      add_graph(*found->second, box);
    }
  }

  void add_origin(const aot::Origin& origin, GraphPicture::Node& op) {
    for (const aot::ModuleStackEntry& entry : origin.module_stack) {
      if (!entry.path.empty()) classes_.emplace(module_path(entry), entry.type_name);
    }
    if (!origin.module_stack.empty()) op.module_path = module_path(origin.module_stack.back());
    add_fact(op, "source line", etrecord::innermost_model_line(origin.stack_trace));
    const std::vector<aot::StackFrame> frames = aot::parse_stack_trace(origin.stack_trace);
    if (!frames.empty()) add_fact(op, "source", frames.back().text);
  }

  static std::string module_path(const aot::ModuleStackEntry& entry) {
    return etrecord::normalized_module_path(entry.path);
  }

  void add_reasons(const aot::Node& node, GraphPicture::Node& op) const {
    if (reasons_ == nullptr) return;
    const auto found = reasons_->of_source.find(aot::source_of(node));
    if (found == reasons_->of_source.end()) return;
    add_fact(op, kReasonFact, reason_text(found->second));
    const auto taken = std::ranges::count_if(
        found->second, [](const DelegationReasons::Call& call) { return call.why_not.empty(); });
    op.backend = taken == 0                           ? "kernels"
                 : taken == std::ssize(found->second) ? "XnnpackBackend"
                                                      : "XnnpackBackend and kernels";
  }

  void add_outputs(size_t parent) {
    for (const aot::OutputSpec& spec : model_->signature.outputs) {
      const aot::Node* node = spec.name.empty() ? nullptr : model_->graph->find(spec.name);
      if (node == nullptr) continue;
      const bool is_user = spec.kind == aot::OutputSpec::Kind::kUserOutput;
      const size_t made = add_node(NodeKind::kOutput, is_user ? spec.name : spec.target, parent);
      const std::string type = type_of(*node);
      picture_.nodes[made].type = type;
      picture_.nodes[made].note = is_user ? type : "written back " + type;
      const auto found = made_.find(node);
      if (found != made_.end()) picture_.edges.push_back({found->second, made, type});
    }
  }

  const DelegationReasons* reasons_;
  const aot::ExportedProgram* model_ = nullptr;
  GraphPicture picture_;
  std::unordered_map<const aot::Node*, size_t> made_;
  std::unordered_map<const aot::Node*, const aot::InputSpec*> weight_of_;
  std::map<std::string, std::string> classes_;
};

}  // namespace

inspector::GraphPicture picture_of_model(const aot::ExportedProgram& model,
                                         const DelegationReasons* reasons) {
  ModelPicture picture(reasons);
  picture.add(model, GraphPicture::kNoParent);
  return picture.finish();
}

inspector::GraphPicture picture_of_methods(const aot::NativeMethods& methods) {
  ModelPicture picture;
  for (const auto& [name, method] : methods) {
    picture.add(method, methods.size() == 1 ? GraphPicture::kNoParent : picture.add_method(name));
  }
  return picture.finish();
}

}  // namespace vitrine::tools
