#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

class ResultSharer {
 public:
  ResultSharer(ExportedProgram& program, Changes& changes, bool keep_constants)
      : program_(program), changes_(changes), keep_constants_(keep_constants) {}

  void run(Graph& graph) {
    std::unordered_map<std::string, std::vector<Node*>> seen;
    for (Node* node = graph.nodes().empty() ? nullptr : &graph.nodes().front(); node != nullptr;) {
      Node* next = node->next();
      if (may_share(*node)) visit(*node, seen[node->target().name()]);
      node = next;
    }
  }

 private:
  bool may_share(const Node& node) {
    if (!node.is_call() || node.target().dialect() == Dialect::kHigherOrder || !is_pure(node)) {
      return false;
    }
    const Operator* op = operator_of(node.target());
    if (op != nullptr && op->is_nondeterministic) return false;
    // Backends recognize a quantized operator only if its quantize and dequantize calls have no
    // other users.
    if (is_quantization(node.target())) return false;
    if (!keep_constants_) return true;
    const std::vector<Node*> inputs = node.inputs();
    const bool reads_constants = std::ranges::all_of(inputs, [&](const Node* input) {
      return constant_.contains(input) || constant_of(program_, input) != nullptr;
    });
    if (reads_constants) constant_.insert(&node);
    return !reads_constants;
  }

  void visit(Node& node, std::vector<Node*>& earlier) {
    const auto same = std::ranges::find_if(earlier, [&](const Node* other) {
      return other->target() == node.target() && other->args() == node.args() &&
             other->kwargs() == node.kwargs() && other->meta.value == node.meta.value;
    });
    if (same == earlier.end()) {
      earlier.push_back(&node);
      return;
    }
    if (!can_replace(node, **same)) return;
    if (!(node.target() == getitem())) changes_.remove("repeated call removed", node);
    replace_node(program_, node, **same);
  }

  ExportedProgram& program_;
  Changes& changes_;
  bool keep_constants_;
  std::unordered_set<const Node*> constant_;
};

}  // namespace

void share_results(ExportedProgram& program, Changes& changes, bool keep_constants) {
  for_each_graph(*program.graph,
                 [&](Graph& graph) { ResultSharer(program, changes, keep_constants).run(graph); });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
