#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "aot/graph/node_error.h"
#include "aot/passes/decomposition.h"
#include "aot/passes/out_variants.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// There are kernels of these, but core ATen has them not: to_edge keeps them only if asked to.
constexpr std::array<std::string_view, 20> kNotCore = {
    "aten.glu.default",
    "aten.linear.default",
    "aten.logit.default",
    "aten.masked_fill.Scalar",
    "aten.ones.default",
    "aten.pixel_shuffle.default",
    "aten.pixel_unshuffle.default",
    "aten.reflection_pad1d.default",
    "aten.reflection_pad2d.default",
    "aten.reflection_pad3d.default",
    "aten.replication_pad1d.default",
    "aten.replication_pad2d.default",
    "aten.replication_pad3d.default",
    "aten.roll.default",
    "aten.select_scatter.default",
    "aten.stack.default",
    "aten.t_copy.default",
    "aten.transpose_copy.int",
    "aten.tril.default",
    "aten.zeros.default",
};

bool is_core(const Node& node) {
  const Target target = node.target();
  if (std::ranges::count(kNotCore, target.name()) != 0) return false;
  return target.dialect() != Dialect::kAten || has_out_variant(target) || is_view(target) ||
         target.op().starts_with("_assert") || target.op().starts_with("sym_constrain") ||
         target.name_space() != "aten";
}

// Calls in the table are replaced, what replaces them too if it is in the table itself. `is_whole`
// tells of a call that it stays.
template <class IsWhole>
void apply(ExportedProgram& program, const std::map<std::string_view, Decompose>& table,
           const IsWhole& is_whole) {
  bool resized = false;
  for (bool changed = true; changed;) {
    changed = false;
    for_each_call(*program.graph, [&](Node& node) {
      if (node.target().dialect() != Dialect::kAten || is_whole(node)) return;
      const auto found = table.find(node.target().name());
      if (found == table.end()) return;
      Decomposition decomposition(program, node);
      found->second(decomposition);
      changed = true;
      resized = resized || decomposition.changed_sizes();
    });
  }
  if (!resized) return;
  // torch 2.6 records the states of an LSTM with a dim too many: what takes them changes as well.
  program.graph->remove_dead_code();
  propagate_specs(program);
}

std::map<std::string_view, Decompose> table_without(std::span<const std::string> preserved) {
  std::map<std::string_view, Decompose> table;
  for (const auto& rows :
       {activation_decompositions(), arrangement_decompositions(), image_decompositions(),
        layer_decompositions(), linear_algebra_decompositions(), loss_decompositions(),
        maker_decompositions(), math_decompositions(), product_decompositions(),
        recurrent_decompositions(), reduction_decompositions(), resizing_decompositions(),
        scan_decompositions(), selection_decompositions(), shape_decompositions(),
        transformer_decompositions(), value_decompositions(), window_decompositions()}) {
    for (const DecompositionRow& row : rows) table.emplace(row.target, row.decompose);
  }
  for (const std::string& name : preserved) table.erase(name);
  return table;
}

// What a partitioner may keep of some calls.
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
    const std::string_view op = node.target().op();
    writes = writes || (op.ends_with('_') && !op.ends_with("__"));
  });
  if (!writes) return;
  std::map<std::string_view, Decompose> table = table_without(preserved);
  erase_kept(table, ops_to_keep);
  apply(program, table, stays);
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
    if (is_core(node) || kept.contains(&node) ||
        std::ranges::count(preserved, node.target().name()) != 0) {
      return;
    }
    fail_at(node, "no decomposition is known, and no kernel computes it");
  });
}

}  // namespace vitrine::aot
