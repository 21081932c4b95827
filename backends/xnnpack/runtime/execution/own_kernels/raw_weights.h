#pragma once

#include <cstddef>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "vitrine/half.h"

namespace vitrine::xnnpack::own_kernels {

// The f32 or f16 weights of a convolution, read from the delegate's constants at load. The dims are
// output channel, tap, and input channel of the group. With XNN_FLAG_DEPTHWISE_CONVOLUTION, the
// dims are tap and output channel.
class RawWeights {
 public:
  RawWeights(const xnn_runtime& runtime, const xnn_operator_data& data)
      : filter_(runtime.values[data.inputs[1]]),
        bias_(data.num_inputs > 2 ? &runtime.values[data.inputs[2]] : nullptr) {}

  float weight(size_t index) const { return element(filter_, index); }
  float bias(size_t channel) const { return bias_ != nullptr ? element(*bias_, channel) : 0; }
  const float* f32_filter() const { return static_cast<const float*>(filter_.data); }

 private:
  static float element(const RuntimeTensor& tensor, size_t index) {
    if (tensor.datatype == xnn_datatype_fp32) return static_cast<const float*>(tensor.data)[index];
    return static_cast<float>(static_cast<const Half*>(tensor.data)[index]);
  }

  const RuntimeTensor& filter_;
  const RuntimeTensor* bias_;  // null if the convolution does not have a bias
};

}  // namespace vitrine::xnnpack::own_kernels
