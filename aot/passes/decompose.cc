#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/decompositions.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

struct Decompose {
  void (*function)(Decomposition&) = nullptr;
  bool uses_opmath = false;

  void operator()(Decomposition& decomposition) const {
    if (uses_opmath) decomposition.use_opmath();
    function(decomposition);
  }
};

bool is_core(const Node& node) {
  const Target target = node.target();
  const Operator* op = operator_of(target);
  if (op != nullptr && !op->kernel.empty()) return op->is_core;
  return target.dialect() != Dialect::kAten || is_view(target) ||
         target.op().starts_with("_assert") || target.op().starts_with("sym_constrain") ||
         target.name_space() != "aten";
}

// Decomposes calls to the operators in the table until none of these calls is left. Keeps calls for
// which `is_kept` returns true. If `owns_results` is set, results that are new tensors in PyTorch
// do not share memory with operands.
template <class IsKept>
void apply(ExportedProgram& program, const std::map<std::string_view, Decompose>& table,
           const IsKept& is_kept, bool owns_results = false) {
  bool resized = false;
  for (bool changed = true; changed;) {
    changed = false;
    for_each_call(*program.graph, [&](Node& node) {
      if (node.target().dialect() != Dialect::kAten || is_kept(node)) return;
      const auto found = table.find(node.target().name());
      if (found == table.end()) return;
      Decomposition decomposition(program, node, owns_results);
      found->second(decomposition);
      changed = changed || !decomposition.is_kept();
      resized = resized || decomposition.changed_sizes();
    });
  }
  if (!resized) return;
  // torch 2.6 records an extra dim for the states of an LSTM. The results of the decomposition do
  // not have this dim, so the shapes of calls that use the states change.
  program.graph->remove_dead_code();
  propagate_specs(program);
}

// The columns SAME_AS, DECOMPOSITION, OPMATH and LATE of a row of the operator table.
struct Row {
  Decompose decompose;
  bool is_late = false;

  constexpr Row same_as() const { return decomposition(decompositions::rename); }
  constexpr Row decomposition(void (*function)(Decomposition&)) const {
    return {{function, decompose.uses_opmath}, is_late};
  }
  constexpr Row opmath() const { return {{decompose.function, true}, is_late}; }
  constexpr Row late() const { return {decompose, true}; }
};

constexpr Row kRows[] = {
#define OP(signature, ...) Row() __VA_ARGS__,
#define SAME_AS(name) .same_as()
#define DECOMPOSITION(function) .decomposition(decompositions::function)
#define OPMATH .opmath()
#define LATE .late()
#include "operators/operators.inc"
};

std::map<std::string_view, Decompose> rows_of(bool late) {
  std::map<std::string_view, Decompose> table;
  for (size_t i = 0; i < operators().size(); ++i) {
    const Operator& op = operators()[i];
    if (kRows[i].decompose.function != nullptr && kRows[i].is_late == late && !op.is_in_place()) {
      table.emplace(op.target, kRows[i].decompose);
    }
  }
  return table;
}

std::map<std::string_view, Decompose> table_without(std::span<const std::string> preserved) {
  std::map<std::string_view, Decompose> table = rows_of(false);
  for (const std::string& name : preserved) table.erase(name);
  return table;
}

void erase_kept(std::map<std::string_view, Decompose>& table,
                std::span<const OpsToKeep> ops_to_keep) {
  for (const OpsToKeep& ops : ops_to_keep) {
    for (const std::string& name : ops.targets) {
      if (may_keep(name)) table.erase(name);
    }
  }
}

bool keep_none(const Node&) { return false; }

}  // namespace

void decompose_around_writes(ExportedProgram& program, std::span<const std::string> preserved,
                             std::span<const OpsToKeep> ops_to_keep) {
  bool writes = false;
  for_each_call(*program.graph, [&](Node& node) {
    writes = writes || is_in_place(node.target()) || writes_arguments(node);
  });
  if (!writes) return;
  std::map<std::string_view, Decompose> table = table_without(preserved);
  erase_kept(table, ops_to_keep);
  // With owns_results, a write to a result cannot change an operand.
  apply(program, table, keep_none, true);
}

void decompose(ExportedProgram& program, std::span<const std::string> preserved,
               std::span<const OpsToKeep> ops_to_keep) {
  const std::map<std::string_view, Decompose> table = table_without(preserved);
  std::unordered_set<const Node*> kept;
  if (!ops_to_keep.empty()) {
    std::map<std::string_view, Decompose> others = table;
    erase_kept(others, ops_to_keep);
    apply(program, others, keep_none);
    for (const OpsToKeep& ops : ops_to_keep) {
      for_each_call(*program.graph, [&](Node& node) {
        const std::string& name = node.target().name();
        if (std::ranges::count(ops.targets, name) != 0 && may_keep(name) &&
            (!ops.keeps || ops.keeps(node))) {
          kept.insert(&node);
        }
      });
    }
  }
  apply(program, table, [&](const Node& node) { return kept.contains(&node); });
  for_each_call(*program.graph, [&](Node& node) {
    if (kept.contains(&node) || std::ranges::count(preserved, node.target().name()) != 0) return;
    if (has_unknown_effects(node.target())) {
      fail_at(node, fmt::format("{} is unknown, so it may write to any argument; declare it with "
                                "--operator",
                                node.target().name()));
    }
    if (is_core(node)) return;
    fail_at(node, "the operator has no decomposition and no kernel");
  });
}

void decompose_late(ExportedProgram& program) {
  const std::map<std::string_view, Decompose> table = rows_of(true);
  bool found = false;
  for_each_call(*program.graph, [&](Node& node) {
    if (node.target().dialect() != Dialect::kEdge || !table.contains(node.target().name())) return;
    node.set_target(Target::of(node.target().name()));
    found = true;
  });
  if (!found) return;
  apply(program, table, keep_none);
  remove_dead_code(program);
  views_to_copies(program);
  scalars_to_tensors(program);
  convert_mixed_dtypes(program);
  memory_formats_to_dim_orders(program);
  to_edge_targets(program);
}

}  // namespace vitrine::aot
