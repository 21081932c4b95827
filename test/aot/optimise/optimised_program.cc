#include "test/aot/optimise/optimised_program.h"

#include <gtest/gtest.h>

#include <utility>

#include "aot/evaluation/evaluate.h"
#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {

std::vector<std::string> OptimisedProgram::calls() const { return aot::calls(program); }

void OptimisedProgram::expect_same_results(const std::vector<TensorData>& inputs) const {
  const std::vector<TensorData> expected = evaluate(stock, inputs);
  const std::vector<TensorData> found = evaluate(program, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].sizes, expected[i].sizes);
    expect_near(found[i], values_of(expected[i]));
  }
}

OptimisedProgram optimised(ModelBuilder& build, const std::vector<Node*>& results,
                           bool for_backends) {
  OptimisedProgram made;
  made.program = build.finish(results);
  to_edge(made.program);
  made.stock = made.program.copy();
  Changes changes(made.program.range_constraints);
  uint8_t all = optimisation_choices().front();
  if (!for_backends) all &= static_cast<uint8_t>(~kMerging);
  optimise_before_delegation(made.program, all, changes);
  optimise_after_delegation(made.program, all, changes);
  made.changes = changes.all();
  return made;
}

}  // namespace vitrine::aot
