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

using Table = std::map<std::string_view, Decompose>;

bool is_core(const Node& node) {
  const Target target = node.target();
  const Operator* op = operator_of(target);
  if (op != nullptr && !op->kernel.empty()) return op->is_core;
  return target.dialect() != Dialect::kAten || is_view(target) ||
         target.op().starts_with("_assert") || target.op().starts_with("sym_constrain") ||
         target.name_space() != "aten";
}

// Decomposes calls to operators in the table, except calls for which `is_kept` returns true, until
// no call changes. If `owns_results` is set, a result shares memory with an operand only if
// PyTorch's result does.
template <class IsKept>
void apply(ExportedProgram& program, const Table& table, const IsKept& is_kept,
           bool owns_results = false) {
  bool resized = false;
  for (bool changed = true; changed;) {
    changed = false;
    for_each_call(*program.graph, [&](Node& node) {
      if (node.target().dialect() != Dialect::kAten) return;
      const auto found = table.find(node.target().name());
      if (found == table.end() || is_kept(node)) return;
      Decomposition decomposition(program, node, owns_results);
      found->second(decomposition);
      changed = changed || !decomposition.is_kept();
      resized = resized || decomposition.changed_sizes();
    });
  }
  if (!resized) return;
  // torch 2.6 records an extra dim for the states of an LSTM, which the decomposition lacks.
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

Table rows_of(bool late) {
  Table table;
  for (size_t i = 0; i < operators().size(); ++i) {
    const Operator& op = operators()[i];
    if (kRows[i].decompose.function != nullptr && kRows[i].is_late == late && !op.is_in_place()) {
      table.emplace(op.target, kRows[i].decompose);
    }
  }
  return table;
}

const Table& early_rows() {
  static const Table table = rows_of(false);
  return table;
}

bool is_named(const Node& node, std::span<const std::string> names) {
  return std::ranges::count(names, node.target().name()) != 0;
}

bool is_in(std::span<const OpsToKeep> ops_to_keep, const Node& node) {
  return may_keep(node.target().name()) &&
         std::ranges::any_of(ops_to_keep,
                             [&](const OpsToKeep& ops) { return is_named(node, ops.targets); });
}

}  // namespace

void decompose_around_writes(ExportedProgram& program, std::span<const std::string> preserved,
                             std::span<const OpsToKeep> ops_to_keep) {
  bool writes = false;
  for_each_call(*program.graph, [&](Node& node) {
    writes = writes || is_in_place(node.target()) || writes_arguments(node);
  });
  if (!writes) return;
  // Sets owns_results, so that a write to a result cannot change an operand.
  apply(
      program, early_rows(),
      [&](const Node& node) { return is_named(node, preserved) || is_in(ops_to_keep, node); },
      true);
}

void decompose(ExportedProgram& program, std::span<const std::string> preserved,
               std::span<const OpsToKeep> ops_to_keep) {
  std::unordered_set<const Node*> kept;
  if (!ops_to_keep.empty()) {
    apply(program, early_rows(),
          [&](const Node& node) { return is_named(node, preserved) || is_in(ops_to_keep, node); });
    for_each_call(*program.graph, [&](Node& node) {
      for (const OpsToKeep& ops : ops_to_keep) {
        if (is_in({&ops, 1}, node) && (!ops.keeps || ops.keeps(node))) kept.insert(&node);
      }
    });
  }
  apply(program, early_rows(),
        [&](const Node& node) { return kept.contains(&node) || is_named(node, preserved); });
  for_each_call(*program.graph, [&](Node& node) {
    if (kept.contains(&node) || is_named(node, preserved)) return;
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
  static const Table table = rows_of(true);
  bool found = false;
  for_each_call(*program.graph, [&](Node& node) {
    if (node.target().dialect() != Dialect::kEdge || !table.contains(node.target().name())) return;
    node.set_target(Target::of(node.target().name()));
    found = true;
  });
  if (!found) return;
  apply(program, table, [](const Node&) { return false; });
  remove_dead_code(program);
  views_to_copies(program);
  scalars_to_tensors(program);
  convert_mixed_dtypes(program);
  memory_formats_to_dim_orders(program);
  to_edge_targets(program);
}

}  // namespace vitrine::aot
