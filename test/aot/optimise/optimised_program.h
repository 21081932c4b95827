// Small programs before and after --optimize, for tests of its rules.
#pragma once

#include <string>
#include <vector>

#include "aot/builder/model_builder.h"
#include "aot/optimise/optimise.h"

namespace vitrine::aot {

struct OptimisedProgram {
  ExportedProgram stock;  // in the edge dialect
  ExportedProgram program;
  std::vector<Change> changes;

  // Operators of the calls, without their namespace.
  std::vector<std::string> calls() const;
  // Fails unless both give the same for the inputs, up to rounding.
  void expect_same_results(const std::vector<TensorData>& inputs) const;
};

// Nothing is delegated. `for_backends`: calls get the forms that backends take all the same.
OptimisedProgram optimised(ModelBuilder& build, const std::vector<Node*>& results,
                           bool for_backends = false);

}  // namespace vitrine::aot
