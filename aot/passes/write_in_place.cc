#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

class InPlaceWriter {
 public:
  InPlaceWriter(ExportedProgram& program, Graph& graph) : program_(program), graph_(graph) {
    for (const Node& node : graph.nodes()) position_.emplace(&node, position_.size());
  }

  void run() {
    for (Node* node = &graph_.nodes().front(); node != nullptr;) {
      Node* next = node->next();
      if (is_auto_functionalized(*node)) {
        run_at_node(std::string(node->name()), [&] { replace(*node, next); });
      }
      node = next;
    }
  }

 private:
  // Replaces the node. If `next` is a user that this function erases, moves `next` past that user.
  void replace(Node& node, Node*& next) {
    std::vector<Node*> bases;
    Node& call = insert_original_call(node, bases);
    position_[&call] = position_.at(&node);
    for (Node*& base : bases) {
      if (can_write(*base, node, std::ranges::count(bases, base))) continue;
      Node* copy = insert_like(call, clone_target(), {base}, {}, base->meta.value);
      position_[copy] = position_.at(&node);
      call.replace_input(base, copy);
      base = copy;
    }
    const size_t results = node.meta.value.items()->size() - bases.size();
    const std::vector<Node*> users = node.users();
    for (Node* user : users) {
      const int64_t* index = user->calls(getitem()) ? user->need(1).get<int64_t>() : nullptr;
      if (index == nullptr || *index < 0 || static_cast<size_t>(*index) >= results + bases.size()) {
        throw AotError(fmt::format("has {} results, but node {} uses a result that does not exist",
                                   results + bases.size(), user->name()));
      }
      const auto at = static_cast<size_t>(*index);
      if (at < results && results > 1) {
        user->set_arg(0, &call);
        continue;
      }
      while (next == user) next = next->next();
      replace_node(program_, *user, at < results ? call : *bases[at - results]);
    }
    graph_.erase(&node);
  }

  // True if the call may write to the base: the base owns its memory, is written only once, and its
  // old value is not read later.
  bool can_write(const Node& base, const Node& node, std::ptrdiff_t num_writes) const {
    if (num_writes > 1 || !owns_memory(base)) return false;
    return std::ranges::none_of(
        base.users(), [&](const Node* user) { return position_.at(user) > position_.at(&node); });
  }
  bool owns_memory(const Node& base) const {
    if (base.kind() == Node::Kind::kPlaceholder) {
      const InputSpec* spec = program_.input_of(base.name());
      return &graph_ == program_.graph.get() && spec != nullptr && is_mutated(*spec);
    }
    return base.is_call() && base.target() != getitem() && has_kernel(base.target());
  }
  bool is_mutated(const InputSpec& spec) const {
    return program_.is_mutated(spec) ||
           std::ranges::any_of(program_.signature.outputs, [&](const OutputSpec& output) {
             return output.kind == OutputSpec::Kind::kUserInputMutation &&
                    output.target == spec.name;
           });
  }

  ExportedProgram& program_;
  Graph& graph_;
  std::unordered_map<const Node*, size_t> position_;
};

}  // namespace

void write_in_place(ExportedProgram& program) {
  for_each_graph(*program.graph, [&](Graph& graph) { InPlaceWriter(program, graph).run(); });
}

}  // namespace vitrine::aot
