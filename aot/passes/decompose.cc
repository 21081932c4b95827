#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "aot/graph/node_error.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/decompositions.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

using Decompose = void (*)(Decomposition&);

bool is_core(const Node& node) {
  const Target target = node.target();
  const Operator* op = operator_of(target);
  if (op != nullptr && !op->kernel.empty()) return op->is_core;
  return target.dialect() != Dialect::kAten || is_view(target) ||
         target.op().starts_with("_assert") || target.op().starts_with("sym_constrain") ||
         target.name_space() != "aten";
}

// Replaces calls in the table, repeatedly if the replacement is in the table too. `is_whole`
// returns true for calls that stay. With `owns_results`, results are new where PyTorch's are.
template <class IsWhole>
void apply(ExportedProgram& program, const std::map<std::string_view, Decompose>& table,
           const IsWhole& is_whole, bool owns_results = false) {
  bool resized = false;
  for (bool changed = true; changed;) {
    changed = false;
    for_each_call(*program.graph, [&](Node& node) {
      if (node.target().dialect() != Dialect::kAten || is_whole(node)) return;
      const auto found = table.find(node.target().name());
      if (found == table.end()) return;
      Decomposition decomposition(program, node, owns_results);
      found->second(decomposition);
      changed = true;
      resized = resized || decomposition.changed_sizes();
    });
  }
  if (!resized) return;
  // torch 2.6 records the states of an LSTM with an extra dim, so their users change too.
  program.graph->remove_dead_code();
  propagate_specs(program);
}

// A row of the operator table, of which SAME_AS, DECOMPOSITION and LATE are read.
struct Row {
  Decompose decompose = nullptr;
  bool is_late = false;

  constexpr Row same_as() const { return {decompositions::rename, is_late}; }
  constexpr Row decomposition(Decompose function) const { return {function, is_late}; }
  constexpr Row late() const { return {decompose, true}; }
};

constexpr Row kRows[] = {
#define OP(signature, ...) Row() __VA_ARGS__,
#define SAME_AS(name) .same_as()
#define DECOMPOSITION(function) .decomposition(decompositions::function)
#define LATE .late()
#include "operators/operators.inc"
};

std::map<std::string_view, Decompose> rows_of(bool late) {
  std::map<std::string_view, Decompose> table;
  for (size_t i = 0; i < operators().size(); ++i) {
    const Operator& op = operators()[i];
    if (kRows[i].decompose != nullptr && kRows[i].is_late == late && !op.is_in_place()) {
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

// Calls that a partitioner may keep.
void erase_kept(std::map<std::string_view, Decompose>& table,
                std::span<const OpsToKeep> ops_to_keep) {
  for (const OpsToKeep& each : ops_to_keep) {
    for (const std::string& name : each.targets) {
      if (may_keep(name)) table.erase(name);
    }
  }
}

bool stays(const Node&) { return false; }

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
  apply(program, table, stays, true);  // or a write to a result would change the operand too
}

void decompose(ExportedProgram& program, std::span<const std::string> preserved,
               std::span<const OpsToKeep> ops_to_keep) {
  const std::map<std::string_view, Decompose> table = table_without(preserved);
  std::unordered_set<const Node*> kept;
  if (!ops_to_keep.empty()) {
    std::map<std::string_view, Decompose> others = table;
    erase_kept(others, ops_to_keep);
    apply(program, others, stays);
    for (const OpsToKeep& each : ops_to_keep) {
      for_each_call(*program.graph, [&](Node& node) {
        const std::string& name = node.target().name();
        if (std::ranges::count(each.targets, name) != 0 && may_keep(name) &&
            (!each.keeps || each.keeps(node))) {
          kept.insert(&node);
        }
      });
    }
  }
  apply(program, table, [&](const Node& node) { return kept.contains(&node); });
  for_each_call(*program.graph, [&](Node& node) {
    if (kept.contains(&node) || std::ranges::count(preserved, node.target().name()) != 0) return;
    if (has_unknown_effects(node.target())) {
      fail_at(node, fmt::format("{} is unknown, and so is what it writes; --operator declares it",
                                node.target().name()));
    }
    if (is_core(node)) return;
    fail_at(node, "no decomposition is known, and no kernel computes it");
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
  apply(program, table, stays);
  remove_dead_code(program);
  views_to_copies(program);
  scalars_to_tensors(program);
  convert_mixed_dtypes(program);
  memory_formats_to_dim_orders(program);
  to_edge_targets(program);
}

}  // namespace vitrine::aot
