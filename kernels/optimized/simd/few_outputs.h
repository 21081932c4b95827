// Convolutions of channels-last images with up to four output channels. Each lane of a vector is an
// input channel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine::optimized::simd {

struct FewOutputs {
  static constexpr int64_t kMax = 4;

  int64_t in_channels;
  int64_t out_channels;  // 1 to kMax
  int64_t taps;

  // Number of floats in the weights, in the layout of this machine's instruction set.
  int64_t weight_floats() const;
  void set_bias(int64_t out_channel, float bias, float* weights) const;
  // Position of a weight in the array. The caller must zero all floats other than weights and
  // biases.
  int64_t weight_at(int64_t tap, int64_t in_channel, int64_t out_channel) const;
};

// Pointers to the input pixels of each output pixel. The pointer for tap t of output pixel p is
// table[(p / tile * taps + t) * tile + p % tile]. `offset` bytes are added to all pointers except
// `padding`, which points to a pixel of zeros. With one tap, `table` may be null. The pointer for
// output pixel p is then image + p * image_step.
struct TapTable {
  const float* const* table = nullptr;
  int64_t tile = 1;
  size_t offset = 0;
  const float* padding = nullptr;
  const float* image = nullptr;
  int64_t image_step = 0;
};
struct FewOutputPixels {
  TapTable in;
  int64_t first;
  int64_t count;
  float* out;  // pixel `first`; pixels are contiguous
  float min;
  float max;
};
void convolve_few_outputs(const FewOutputs& shape, const float* weights,
                          const FewOutputPixels& pixels);

}  // namespace vitrine::optimized::simd
