// Replaces XNNPACK's kernels in a runtime with faster Vitrine kernels. Each file in own_kernels/
// begins with the operators that it runs.
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
  // False without XNNPACK's private headers and in selective builds (VITRINE_SELECT_OPS). The
  // functions below then do nothing.
  static bool are_built();
  // True if this build has a kernel whose name in profiles starts with `name`.
  static bool have(std::string_view name);
  // True if Winograd's algorithm can run f16 convolutions on this processor.
  static bool have_f16_winograd();
  // Chooses the convolutions for Winograd's algorithm, and marks the nodes whose weights XNNPACK
  // need not pack (Node::weights). Also reads the table of choices. Call once, before the runtime
  // is built. `shapes` is indexed by value.
  Error plan(Graph& graph, std::span<const Shape> shapes, const Options& options,
             const OwnKernelLimits& limits);
  // Writes weights in the layouts of Vitrine's kernels to `weights`. Call once, after the runtime
  // was built and before its first reshape. `pool` is the runtime's thread pool, or null.
  Error load(xnn_runtime_t runtime, ThreadPool* pool, PackedWeights& weights);
  // Drops pointer tables that Vitrine's kernels do not read. Call after reshapes, before planning.
  void drop_tables(xnn_runtime_t runtime) const;
  // Installs Vitrine's kernels in the runtime's operators. Call after each reshape. The runtime
  // must not run after this object is destroyed. Does not allocate.
  void use(xnn_runtime_t runtime);
  // The name of Vitrine's kernel for each operator that runs, in execution order. Null if XNNPACK's
  // kernel runs the operator. Depends on the sizes of the last reshape.
  std::span<const char* const> names() const { return names_; }
  // Bytes of the weights for Winograd's algorithm, which plan() computes.
  size_t weight_bytes() const { return winograd_.weight_bytes(); }
  size_t scratch_bytes() const { return winograd_.scratch_bytes(); }

 private:
  KernelChoices choices_;
  CheckedVector<const char*> names_;
  CheckedVector<const std::byte*> weights_;  // one element per operator that runs; null without own
                                             // weights
  own_kernels::Winograd winograd_;
};

}  // namespace vitrine::xnnpack
