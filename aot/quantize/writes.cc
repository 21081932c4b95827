#include "aot/quantize/writes.h"

namespace vitrine::aot {
namespace {

// True if the call's result may share memory with its first argument.
bool may_share_memory(const Node& node) {
  const Target target = node.target();
  if (target == getitem() || is_in_place(target)) return true;
  const Operator* op = operator_of(target);
  // In evaluation mode, dropout returns its input.
  return op == nullptr || op->may_alias() || target.op().find("dropout") != std::string_view::npos;
}

}  // namespace

Writes::Writes(const ExportedProgram& program) {
  size_t position = 0;
  for (const Node& node : program.graph->nodes()) {
    positions_[&node] = ++position;
    const Node* first = node.is_call() && !node.args().empty() ? node.args()[0].node() : nullptr;
    const bool shares = first != nullptr && may_share_memory(node);
    roots_[&node] = shares ? roots_.at(first) : &node;
    if (!node.is_call()) continue;
    if (first != nullptr && is_in_place(node.target())) last_writes_[roots_.at(first)] = position;
    if (!has_unknown_effects(node.target())) continue;
    for (const Node* input : node.inputs()) last_writes_[roots_.at(input)] = position;
  }
}

size_t Writes::last_write_of(const Node& tensor) const {
  const auto found = last_writes_.find(roots_.at(&tensor));
  return found == last_writes_.end() ? 0 : found->second;
}

}  // namespace vitrine::aot
