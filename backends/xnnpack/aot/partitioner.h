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
    // If true, makes a partition for each delegated call and the calls that must be with it, such
    // as quantize calls. ExecuTorch's partitioner for dynamic quantization does the same.
    bool per_op = false;
    // If true, delegates float linear, addmm and mm calls with computed weights and biases.
    bool allows_dynamic_weights = false;
    // If true, delegates calls with bf16 tensors, like the option enable_bf16 of ExecuTorch 1.5.
    // Runtimes before ExecuTorch 1.5 cannot load such payloads.
    bool enable_bf16 = false;
    // If true, delegates calls in branches of control flow too. The weights of a branch are
    // arguments of the branch, so operators that need constant weights are not delegated there.
    // ExecuTorch's partitioner ignores branches.
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
