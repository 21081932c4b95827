// Runs operators of XNNPACK's runtimes with Vitrine's kernels if these are faster. The files of
// own_kernels/ say which operators.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/xnnpack/runtime/execution/own_kernels/winograd.h"
#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

class OwnKernels {
 public:
  // False in builds that lack XNNPACK's private headers or select kernels. In such builds, the
  // functions below do nothing.
  static bool are_built();
  // True if this build has a kernel whose name in profiles starts with `name`.
  static bool have(std::string_view name);
  // Copies weights into the layouts of our kernels. Call once, at load. `pool` is the runtime's and
  // may be null. Omits a copy that exceeds the rest of `max_bytes` if the copy only makes a kernel
  // faster. `exact` excludes kernels whose errors are larger than those of plain sums of products.
  Error load(xnn_runtime_t runtime, ThreadPool* pool, uint64_t max_bytes, bool exact);
  // Makes the runtime call our kernels. Call again after each reshape. The runtime must not run
  // after this object is destroyed. Does not allocate.
  void use(xnn_runtime_t runtime);
  // The name of our kernel for each operator that runs, in running order; null if XNNPACK's kernel
  // runs it. The choice depends on the sizes of the last reshape.
  std::span<const char* const> names() const { return names_; }
  // Number of bytes of the copied weights.
  size_t bytes() const { return weights_.size() + winograd_.weight_bytes(); }
  // Bytes of memory that tasks use during a run.
  size_t scratch_bytes() const { return winograd_.scratch_bytes(); }

 private:
  CheckedVector<const char*> names_;
  CheckedVector<std::byte> weights_;  // copies for each operator, in running order
  own_kernels::Winograd winograd_;
};

}  // namespace vitrine::xnnpack
