#include <fmt/format.h>

#include <map>

#include "aot/graph/aot_error.h"
#include "aot/passes/decomposition.h"
#include "aot/passes/out_variants.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// The innermost line of the user's own code: "model.py:28", or nothing.
std::string source_line(const Node& node) {
  if (node.meta.origin == nullptr) return "";
  const std::string& trace = node.meta.origin->stack_trace;
  constexpr std::string_view kFile = "File \"";
  const size_t begin = trace.find(kFile);
  if (begin == std::string::npos) return "";
  const size_t end = trace.find('\n', begin);
  return fmt::format(" ({})", trace.substr(begin, end == std::string::npos ? end : end - begin));
}

bool is_core(const Node& node) {
  const Target target = node.target();
  return target.dialect() != Dialect::kAten || has_out_variant(target) || is_view(target) ||
         target.op().starts_with("_assert") || target.op().starts_with("sym_constrain") ||
         target.name_space() != "aten";
}

}  // namespace

void decompose(ExportedProgram& program) {
  std::map<std::string_view, Decompose> table;
  for (const auto& rows :
       {layer_decompositions(), shape_decompositions(), value_decompositions()}) {
    for (const DecompositionRow& row : rows) table.emplace(row.target, row.decompose);
  }
  // What a decomposition makes may have one itself.
  for (bool changed = true; changed;) {
    changed = false;
    for_each_call(*program.graph, [&](Node& node) {
      const auto found = table.find(node.target().name());
      if (node.target().dialect() == Dialect::kAten && found != table.end()) {
        Decomposition decomposition(program, node);
        found->second(decomposition);
        changed = true;
      } else if (!is_core(node)) {
        throw AotError(fmt::format("node {}: no decomposition of {} is known{}", node.name(),
                                   node.target().name(), source_line(node)));
      }
    });
  }
}

}  // namespace vitrine::aot
