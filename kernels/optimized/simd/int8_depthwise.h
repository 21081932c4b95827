// Depthwise convolutions of int8 images with int8 weights and a scale per channel. Results equal
// those of XNNPACK bit for bit. On x86-64, the caller must check that the CPU has AVX-512 VNNI. On
// other architectures, the functions do nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine::optimized::simd {

// The weights are divided into blocks of 64 channels. A block has the initial sums, the weights of
// each group of at most four taps, and the scales. A last block of at most 32 channels has all data
// twice, so that two pixels can be computed at the same time.
struct Int8DepthwiseWindow {
  size_t channels = 0;
  size_t rows = 0;
  size_t columns = 0;
  size_t step = 1;  // columns between two pixels of the result

  size_t weight_bytes() const;
  // Writes the weights of a channel. Tap t, counted column by column, is taps[t * tap_stride].
  void pack(size_t channel, int32_t bias, const int8_t* taps, size_t tap_stride, float scale,
            std::byte* weights) const;
};

struct Int8DepthwiseRow {
  // Pointers to the inputs of the taps, column by column. The window of pixel p starts at column p
  // * step. A pointer equal to `zero` marks padding. `offset` bytes are added to all other
  // pointers.
  const int8_t* const* in;
  const int8_t* zero;
  size_t offset;
  const std::byte* weights;
  int8_t* out;
  size_t out_stride;
  size_t pixels;
  // The result is clamp(round(sum * scale) + zero_point, min, max).
  int32_t zero_point;
  int8_t min;
  int8_t max;
};
void int8_depthwise_row(const Int8DepthwiseWindow& window, const Int8DepthwiseRow& row);

}  // namespace vitrine::optimized::simd
