// Runs operators of XNNPACK's runtimes with Vitrine's kernels if these are faster: f32 softmax, f32
// exponential, and f32 depthwise convolution with a window for which XNNPACK has only its grouped
// IGEMM (above 25 elements).
#pragma once

#include <xnnpack.h>

#include <cstddef>

#include "runtime/core/checked_vector.h"

struct xnn_operator_data;

namespace vitrine::xnnpack {

// Does nothing in builds without XNNPACK's private headers or without the optimized kernels.
class OwnKernels {
 public:
  // Copies the weights of depthwise convolutions into the layout of our kernel. Call once, at load.
  Error load(xnn_runtime_t runtime);
  // Makes the runtime call our kernels. Call again after each reshape. The runtime must not run
  // after this object is destroyed.
  void use(xnn_runtime_t runtime) const;
  // Bytes of copied weights.
  size_t bytes() const { return weights_.size() * sizeof(float); }

 private:
  CheckedVector<float> weights_;  // of each convolution, in running order: bias, then each tap
};

// Returns the name of our kernel that runs the operator, or null if XNNPACK's kernel runs it.
const char* own_kernel_name(const xnn_operator_data& data);

}  // namespace vitrine::xnnpack
