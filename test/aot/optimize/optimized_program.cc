#include "test/aot/optimize/optimized_program.h"

#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {

std::vector<std::string> OptimizedProgram::calls() const { return aot::calls(program); }

void OptimizedProgram::expect_same_results(const std::vector<TensorData>& inputs) const {
  aot::expect_same_results(program, stock, inputs);
}

OptimizedProgram optimized(ModelBuilder& build, const std::vector<Node*>& results,
                           bool for_backends) {
  OptimizedProgram made;
  made.program = build.finish(results);
  to_edge(made.program);
  made.stock = made.program.copy();
  Changes changes(made.program.range_constraints);
  Optimizations all = optimization_choices().front();
  if (!for_backends) all &= static_cast<Optimizations>(~kMerging);
  optimize_before_delegation(made.program, all, changes);
  optimize_after_delegation(made.program, all, changes);
  made.changes = changes.all();
  return made;
}

}  // namespace vitrine::aot
