#include <algorithm>
#include <unordered_map>
#include <vector>

#include "aot/graph/pass.h"
#include "aot/operators/strides.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// True if the tensor is row-major in the program. Its row-major views then have the same elements
// in the same order.
bool is_row_major(const Node* node) {
  if (node == nullptr || node->tensor() == nullptr) return false;
  const TensorSpec& spec = *node->tensor();
  return is_contiguous(spec) || std::ranges::is_sorted(kept_dim_order(spec));
}

class ViewElider {
 public:
  explicit ViewElider(Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes()) position_.emplace(&node, position_.size());
    for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) note(*node);
  }

  void run() {
    for (Node& node : graph_.nodes()) {
      if (node.calls(view_copy_)) elide(node);
    }
  }

 private:
  // Records the last use of the node or its views, and the calls that write to the node.
  void note(const Node& node) {
    size_t& last = last_use_[&node];
    for (const Node* user : node.users()) {
      const bool is_alias = user->calls(view_copy_) || user->calls(view_) || writes(*user, node);
      last = std::max({last, position_.at(user), is_alias ? last_use_.at(user) : 0});
      if (writes(*user, node)) writes_[root_of(&node)].push_back(position_.at(user));
    }
  }

  static bool writes(const Node& call, const Node& tensor) {
    const Operator* op = call.is_call() ? operator_of(call.target()) : nullptr;
    for (size_t i = 0; op != nullptr && i < op->arguments.size(); ++i) {
      const OperatorArgument& argument = op->arguments[i];
      if (!argument.is_written) continue;
      const Argument* value = i < call.args().size() ? call.arg(i) : call.kwarg(argument.name);
      if (value != nullptr && value->node() == &tensor) return true;
    }
    return false;
  }

  // Returns the tensor that owns the node's memory.
  const Node* root_of(const Node* node) const {
    while (node->is_call() && !node->args().empty() && node->args()[0].node() != nullptr &&
           (node->calls(view_) || is_in_place(node->target()))) {
      node = node->args()[0].node();
    }
    return node;
  }

  // True if a call writes to the view, or to the view's input while the view is still in use.
  bool is_written_while_used(const Node& view) const {
    if (writes_.contains(&view)) return true;
    const Node* input = view.need(0).node();
    const auto found = input == nullptr ? writes_.end() : writes_.find(root_of(input));
    if (found == writes_.end()) return false;
    return std::ranges::any_of(found->second, [&](size_t at) {
      return at > position_.at(&view) && at < last_use_.at(&view);
    });
  }

  // The address of a cond's result depends on the branch that runs.
  static bool is_cond_result(const Node* tensor) {
    if (tensor != nullptr && tensor->calls(getitem())) tensor = tensor->need(0).node();
    return tensor != nullptr && tensor->is_call() && tensor->target().is("cond");
  }

  void elide(Node& node) {
    // Replaces a view of a view with a view of the base, unless the inner view is only a part of
    // the base.
    const Node* base = node.need(0).node();
    if (base != nullptr && (base->calls(view_copy_) || base->calls(view_)) && !base->arg(2) &&
        !is_written_while_used(*base)) {
      node.set_arg(0, base->need(0));
    }
    // An output must not be a view, because the caller may provide the output's memory.
    const bool is_result = std::ranges::any_of(
        node.users(), [](const Node* user) { return user->kind() == Node::Kind::kOutput; });
    if (!is_result && !is_cond_result(node.need(0).node()) && is_row_major(node.need(0).node()) &&
        is_row_major(&node) && !is_written_while_used(node)) {
      node.set_target(view_);
    }
  }

  const Target view_copy_ = Target::of("aten.view_copy.default", Dialect::kEdge);
  const Target view_ = Target::of("memory.view", Dialect::kPython);
  Graph& graph_;
  std::unordered_map<const Node*, size_t> position_;
  std::unordered_map<const Node*, size_t> last_use_;
  std::unordered_map<const Node*, std::vector<size_t>> writes_;  // keyed by the written tensor
};

}  // namespace

void elide_views(ExportedProgram& program) {
  for_each_graph(*program.graph, [](Graph& graph) { ViewElider(graph).run(); });
}

}  // namespace vitrine::aot
