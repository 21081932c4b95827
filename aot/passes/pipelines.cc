#include "aot/passes/pipelines.h"

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {

void to_edge(ExportedProgram& program, const EdgeOptions& options) {
  std::vector<Pass> passes = {
      {"inline_wrapped", inline_wrapped},
      {"remember_sources", remember_sources},
      {"inline_vmap", inline_vmap},
      {"unify_writes", unify_writes},
      {"decompose_around_writes",
       [&](ExportedProgram& p) {
         decompose_around_writes(p, options.preserve_ops, options.ops_to_keep);
       }},
      {"functionalize", functionalize},
      {"decompose",
       [&](ExportedProgram& p) { decompose(p, options.preserve_ops, options.ops_to_keep); }},
      {"remove_dead_code", remove_dead_code},
      {"remove_unused_parameters", remove_unused_parameters},
      {"remove_asserts", remove_asserts},
      {"views_to_copies", views_to_copies},
  };
  if (options.rewrite) passes.push_back({"rewrite", options.rewrite});
  passes.push_back({"scalars_to_tensors", scalars_to_tensors});
  passes.push_back({"remove_no_ops", remove_no_ops});
  passes.push_back({"convert_mixed_dtypes", convert_mixed_dtypes});
  if (!options.skip_dim_order) {
    passes.push_back({"memory_formats_to_dim_orders", memory_formats_to_dim_orders});
  }
  passes.push_back({"remove_dead_code", remove_dead_code});
  passes.push_back({"to_edge_dialect", to_edge_dialect});
  passes.push_back({"generate_debug_handles", generate_debug_handles});
  run_passes(program, passes);
}

void to_executable(ExportedProgram& program, const ExecutableOptions& options) {
  std::vector<Pass> passes;
  passes.push_back({"decompose_late", decompose_late});
  passes.push_back({"write_in_place", write_in_place});
  passes.push_back({"copy_carried", copy_carried});
  passes.push_back({"copy_branch_results", copy_branch_results});
  if (options.reinplace) passes.push_back({"reinplace", reinplace});
  passes.push_back({"write_back_buffers", write_back_buffers});
  if (options.elide_views) passes.push_back({"elide_views", elide_views});
  passes.push_back({"remove_dead_code", remove_dead_code});
  run_passes(program, passes);
}

}  // namespace vitrine::aot
