// Copies results of a cond that are read after another branch or loop body has run. All branches
// and loop bodies share memory, so the next branch or body overwrites these results.
#include <algorithm>
#include <unordered_map>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

bool runs_graph(const Node& node) {
  return node.is_call() && node.target().dialect() == Dialect::kHigherOrder &&
         !node.target().is("executorch_call_delegate");
}

// Copies inputs that a branch returns, because the memory of an input may be reused before the
// result is read.
void copy_returned_inputs(const Node& condition, Graph& branch) {
  const Argument& returned = branch.output()->need(0);
  const bool is_list = returned.list() != nullptr;
  ArgumentList results = is_list ? *returned.list() : ArgumentList{returned};
  bool changed = false;
  for (Argument& result : results) {
    Node* input = result.node();
    if (input == nullptr || input->kind() != Node::Kind::kPlaceholder) continue;
    if (input->tensor() == nullptr) continue;
    Node* copy = insert_like(*branch.output(), clone_target(), {input}, {}, input->meta.value);
    copy->meta.origin = condition.meta.origin;
    result = copy;
    changed = true;
  }
  if (!changed) return;
  branch.output()->set_args({is_list ? Argument::tuple(std::move(results)) : results[0]});
}

class BranchResultCopier {
 public:
  BranchResultCopier(ExportedProgram& program, Graph& graph) : program_(program), graph_(graph) {
    for (const Node& node : graph.nodes()) position_.emplace(&node, position_.size());
  }

  void run() {
    size_t next = position_.size();  // position of the next call that runs a branch or body
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes()) nodes.push_back(&node);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      if (!runs_graph(**node)) continue;
      if ((*node)->target().is("cond")) {
        for (const size_t argument : {size_t{1}, size_t{2}}) visit_branch(**node, argument);
        for (Node* result : results_of(**node)) copy_if_read_late(**node, *result, next);
      }
      next = position_.at(*node);
    }
  }

 private:
  void visit_branch(const Node& condition, size_t argument) {
    const Node* getter =
        condition.arg(argument) == nullptr ? nullptr : condition.arg(argument)->node();
    if (getter == nullptr) return;
    const auto branch = graph_.subgraphs().find(getter->attribute());
    if (branch != graph_.subgraphs().end()) copy_returned_inputs(condition, *branch->second);
  }

  static std::vector<Node*> results_of(Node& condition) {
    if (condition.tensor() != nullptr) return {&condition};
    std::vector<Node*> results;
    for (Node* user : condition.users()) {
      if (user->calls(getitem()) && user->tensor() != nullptr) results.push_back(user);
    }
    return results;
  }

  void copy_if_read_late(Node& condition, Node& result, size_t next) {
    std::vector<Node*> late;
    for (Node* user : result.users()) {
      if (position_.at(user) >= next) late.push_back(user);
    }
    if (late.empty()) return;
    Node* from = &result;
    if (position_.at(&result) > next) {  // getitem runs too late, so insert an earlier one
      from = insert_like(*condition.next(), getitem(), result.args(), {}, result.meta.value);
      from->meta = result.meta;
    }
    Node* copy = insert_like(*from->next(), clone_target(), {from}, {}, result.meta.value);
    copy->meta = result.meta;
    for (Node* user : late) user->replace_input(&result, copy);
    if (&graph_ != program_.graph.get()) return;
    for (OutputSpec& output : program_.signature.outputs) {
      if (output.name == result.name()) output.name = copy->name();
    }
  }

  ExportedProgram& program_;
  Graph& graph_;
  std::unordered_map<const Node*, size_t> position_;
};

}  // namespace

void copy_branch_results(ExportedProgram& program) {
  for_each_graph(*program.graph, [&](Graph& graph) { BranchResultCopier(program, graph).run(); });
}

}  // namespace vitrine::aot
