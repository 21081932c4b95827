// Which calls of a program go to XNNPACK, as ExecuTorch 1.4's XnnpackPartitioner chooses them.
#pragma once

#include <memory>

#include "aot/lowering/partitioner.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot {

// Calls that the rules take (backends/xnnpack/aot/rules.h, docs/xnnpack.md) form maximal convex
// partitions, with the weights that they read. Every call that is not taken is a Rejection.
// Thread-safe.
class XnnpackPartitioner final : public Partitioner {
 public:
  struct Options {
    uint8_t precisions = xnnpack::kAnyPrecision;
    // A partition for each match; ExecuTorch's dynamically quantising partitioner does so.
    bool per_op = false;
    bool allows_dynamic_weights = false;  // and biases, of linear, addmm and mm in floats
    // Also takes calls in branches of control flow. Weights are arguments there, so operators that
    // need constant weights stay outside. ExecuTorch's partitioner looks only at the program's own
    // graph.
    bool in_branches = false;
  };

  XnnpackPartitioner() : XnnpackPartitioner(Options()) {}
  explicit XnnpackPartitioner(const Options& options);

  PartitionResult partition(ExportedProgram& program) const override;
  OpsToKeep ops_to_keep(const ExportedProgram& program) const override;

 private:
  Options options_;
  std::shared_ptr<const Backend> backend_;
};

}  // namespace vitrine::aot
