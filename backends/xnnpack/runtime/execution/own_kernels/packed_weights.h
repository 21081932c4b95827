// Reads the weights of f32 convolutions from XNNPACK's layout.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"

namespace vitrine::xnnpack::own_kernels {

// XNNPACK's weights of a convolution: blocks of `columns` output channels, each with its biases and
// the weights of each tap. Groups of kr * sr input channels are rotated by the column.
class PackedWeights {
 public:
  // `kernel` is the operator's kernel in its field `ukernel`.
  template <class Kernel>
  PackedWeights(xnn_operator& op, const Kernel& kernel)
      : data_(static_cast<const float*>(packed_weights(&op))),
        columns_(kernel.nr),
        step_(kernel.kr),
        group_(int64_t{kernel.kr} * kernel.sr),
        taps_(int64_t{convolution_of(op).kernel_height} * convolution_of(op).kernel_width),
        tap_((static_cast<int64_t>(convolution_of(op).group_input_channels) + group_ - 1) / group_ *
             group_ * columns_) {}

  // Writes the biases of the output channels from `first` on.
  void copy_biases(int64_t first, int64_t count, float* to) const {
    for (int64_t i = 0; i < count; ++i) to[i] = block(first + i)[(first + i) % columns_];
  }
  // Writes the weights of one tap for one input channel and several output channels.
  void copy_weights(int64_t tap, int64_t in_channel, int64_t first, int64_t count,
                    float* to) const {
    const int64_t group = in_channel / group_ * group_;
    for (int64_t i = 0; i < count;) {
      const int64_t column = (first + i) % columns_;
      const float* const from = block(first + i) + columns_ + tap * tap_ + group * columns_;
      const int64_t end = std::min(count, i + columns_ - column);
      if (group_ == 1) {
        std::copy_n(from + column, end - i, to + i);
        i = end;
      }
      for (int64_t n = column; i < end; ++i, ++n) {
        const int64_t at = (in_channel - group - n * step_) & (group_ - 1);
        to[i] = from[at / step_ * step_ * columns_ + n * step_ + at % step_];
      }
    }
  }

 private:
  const float* block(int64_t out_channel) const {
    return data_ + out_channel / columns_ * (columns_ + taps_ * tap_);
  }

  const float* data_;
  int64_t columns_;
  int64_t step_;
  int64_t group_;  // a power of two
  int64_t taps_;
  int64_t tap_;  // floats of a tap in a block
};

}  // namespace vitrine::xnnpack::own_kernels
