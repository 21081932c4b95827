#include "aot/operators/call.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

std::vector<int64_t> dims_of(const Node& permutation) {
  std::vector<int64_t> dims = Call(permutation).integers("dims");
  for (int64_t& dim : dims) dim = static_cast<int64_t>(wrapped(dim, dims.size()));
  return dims;
}

}  // namespace

void compose_permutations(ExportedProgram& program, Changes& changes) {
  constexpr std::string_view kPermute = "aten.permute_copy.default";
  for_each_call(*program.graph, [&](Node& node) {
    Node* inner = calls(&node, kPermute) ? tensor_arg(node, 0) : nullptr;
    // An inner permutation with other users stays in the program. Composing would then only extend
    // the lifetime of the inner permutation's input.
    if (inner == nullptr || !calls(inner, kPermute) || inner->users().size() != 1) return;
    if (tensor_arg(*inner, 0) == nullptr) return;
    const std::vector<int64_t> first = dims_of(*inner);
    std::vector<int64_t> dims = dims_of(node);
    if (dims.size() != first.size()) return;
    for (int64_t& dim : dims) dim = first[static_cast<size_t>(dim)];
    changes.remove("permutation merged into another permutation", *inner);
    node.set_arg(0, tensor_arg(*inner, 0));
    node.set_arg(1, dims);
  });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
