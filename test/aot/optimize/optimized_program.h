// Optimizes small programs as --optimize does, and compares them with the original programs.
#pragma once

#include <string>
#include <vector>

#include "aot/optimize/optimize.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {

struct OptimizedProgram {
  ExportedProgram stock;  // in the edge dialect
  ExportedProgram program;
  std::vector<Change> changes;

  // Returns the operators of the calls, without their namespace.
  std::vector<std::string> calls() const;
  // Expects equal results from the original and the optimized program, up to rounding.
  void expect_same_results(const std::vector<TensorData>& inputs) const;
};

// Optimizes without delegation. If `for_backends` is set, also applies the rules of kMerging, which
// rewrite calls so that partitions become larger.
OptimizedProgram optimized(ModelBuilder& build, const std::vector<Node*>& results,
                           bool for_backends = false);

}  // namespace vitrine::aot
