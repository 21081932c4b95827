// Runs operators of XNNPACK's runtimes with Vitrine's kernels if these are faster: in f32 softmax,
// exp, sin, cos and products of two inputs with few rows; in f32 and f16 depthwise convolutions
// with a window for which XNNPACK has only its grouped IGEMM (above 25 elements).
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <span>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

class OwnKernels {
 public:
  // False in builds with another version of XNNPACK than Debian's, without XNNPACK's private
  // headers, or with selected kernels. The functions below then do nothing.
  static bool are_built();
  // Copies the weights of depthwise convolutions into the layout of our kernel. Call once, at load.
  Error load(xnn_runtime_t runtime);
  // Makes the runtime call our kernels. Call again after each reshape. The runtime must not run
  // after this object is destroyed. Does not allocate.
  void use(xnn_runtime_t runtime);
  // The name of our kernel for each operator that runs, in running order; null if XNNPACK's kernel
  // runs it. The choice depends on the sizes of the last reshape.
  std::span<const char* const> names() const { return names_; }
  // Bytes of copied weights.
  size_t bytes() const { return weights_.size() * sizeof(float); }

 private:
  CheckedVector<const char*> names_;
  CheckedVector<float> weights_;  // of each convolution, in running order: bias, then each tap
};

}  // namespace vitrine::xnnpack
