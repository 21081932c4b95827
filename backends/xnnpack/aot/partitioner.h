// Chooses the calls of a program to delegate to XNNPACK, like ExecuTorch 1.4's XnnpackPartitioner.
#pragma once

#include <memory>

#include "aot/lowering/partitioner.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot {

// Delegates the calls that the rules accept (backends/xnnpack/aot/rules.h, docs/xnnpack.md), with
// their weights, in maximal convex partitions. Every other call gets a Rejection. Thread-safe.
class XnnpackPartitioner final : public Partitioner {
 public:
  struct Options {
    uint8_t precisions = xnnpack::kAnyPrecision;
    // If true, each delegated call and its quantize and dequantize calls become a partition.
    bool per_op = false;
    // If true, delegates float linear, addmm and mm calls whose weights or biases are computed.
    bool allows_dynamic_weights = false;
    // If true, delegates calls with bf16 tensors, which runtimes before ExecuTorch 1.5 cannot load.
    bool enable_bf16 = false;
    // If true, also delegates calls in branches of control flow. The weights of a branch are
    // arguments of the branch, so operators that need constant weights are not delegated there.
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
