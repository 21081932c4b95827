// Replaces XNNPACK's kernels in a runtime with faster Vitrine kernels. The first comment of each
// kernel's file in own_kernels/ names the operators that the kernel runs.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/xnnpack/runtime/execution/kernel_choices.h"
#include "backends/xnnpack/runtime/execution/options.h"
#include "backends/xnnpack/runtime/execution/own_kernels/winograd.h"
#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/weights/packed_weights.h"
#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

class OwnKernels {
 public:
  // False in builds without XNNPACK's private headers and in selective builds (VITRINE_SELECT_OPS).
  // In such builds, the functions below do nothing.
  static bool are_built();
  // True if this build has a kernel whose name in profiles starts with `name`.
  static bool have(std::string_view name);
  // True if Winograd's algorithm can run f16 convolutions on this processor.
  static bool have_f16_winograd();
  // Chooses the convolutions that run with Winograd's algorithm, and marks the nodes whose weights
  // XNNPACK need not pack (Node::weights). Also reads the table of choices (Options::choices). Call
  // once, before the runtime is built. `shapes` has the shape of each value.
  Error plan(Graph& graph, std::span<const Shape> shapes, const Options& options,
             const OwnKernelLimits& limits);
  // Writes weights in the layouts of our kernels to `weights`. Call once, after the runtime was
  // built and before its first reshape. `pool` is the thread pool of the runtime, or null.
  Error load(xnn_runtime_t runtime, ThreadPool* pool, PackedWeights& weights);
  // Drops XNNPACK's pointer tables that our kernels do not read. Call after each reshape, before
  // memory is planned.
  void drop_tables(xnn_runtime_t runtime) const;
  // Installs our kernels in the runtime's operators. Call again after each reshape. The runtime
  // must not run after this object is destroyed. Does not allocate.
  void use(xnn_runtime_t runtime);
  // The name of our kernel for each operator that runs, or null if XNNPACK's kernel runs the
  // operator. The names are in execution order and depend on the sizes of the last reshape.
  std::span<const char* const> names() const { return names_; }
  // The size in bytes of the weights for Winograd's algorithm. plan() computes it; load() writes
  // the weights.
  size_t weight_bytes() const { return winograd_.weight_bytes(); }
  size_t scratch_bytes() const { return winograd_.scratch_bytes(); }

 private:
  KernelChoices choices_;
  CheckedVector<const char*> names_;
  CheckedVector<const std::byte*> weights_;  // for each operator that runs; null if it has none
  own_kernels::Winograd winograd_;
};

}  // namespace vitrine::xnnpack
