#include "kernels/optimized/simd/depthwise.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/depthwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/load_floats-inl.h"
#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = FloatTag;

// The copy of a plane in the scratch memory.
struct Lines {
  const float* data;
  int64_t length;
  int64_t phase;  // number of columns with the same index modulo the step
  int64_t height;

  const float* line(const DepthwisePlane& plane, int64_t y, int64_t ky) const {
    const int64_t at = y * plane.stride - plane.padding + ky * plane.dilation;
    return data + (at < 0 || at >= height ? height : at) * length;  // the last line is all zeros
  }
  int64_t offset(const DepthwisePlane& plane, int64_t kx) const {
    const int64_t x = kx * plane.spread;
    return plane.step == 1 ? x : x % plane.step * phase + x / plane.step;
  }
};

HWY_INLINE Lines copy_lines(const DepthwisePlane& plane) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = plane.step;
  const int64_t length = depthwise_line(plane.width, step, plane.side);
  const int64_t phase = length / step;
  for (int64_t y = 0; y < plane.height; ++y) {
    const float* const from = plane.input + y * plane.input_stride;
    float* const line = plane.scratch + y * length;
    if (step == 1) {
      float* const to = line + plane.side;
      for (int64_t x = 0; x < plane.width; x += lanes) {
        store_part(load_part(d, from + x, plane.width - x), d, to + x, plane.width - x);
      }
#if HWY_TARGET != HWY_SCALAR
    } else if (step == 2) {
      const int64_t odd_side = plane.side % 2;
      float* const even = line + odd_side * phase + plane.side / 2;
      float* const odd = line + (1 - odd_side) * phase + (plane.side + 1) / 2;
      for (int64_t x = 0; x < plane.width; x += 2 * lanes) {
        const auto low = load_part(d, from + x, plane.width - x);
        const auto high = load_part(d, from + x + lanes, plane.width - x - lanes);
        store_part(hn::ConcatEven(d, high, low), d, even + x / 2, (plane.width - x + 1) / 2);
        if (plane.width - x > 1) {
          store_part(hn::ConcatOdd(d, high, low), d, odd + x / 2, (plane.width - x) / 2);
        }
      }
#endif
    } else {
      for (int64_t x = 0; x < plane.width; ++x) {
        const int64_t at = x + plane.side;
        line[at % step * phase + at / step] = from[x];
      }
    }
  }
  return {plane.scratch, length, phase, plane.height};
}

// The weights stay in registers, and each line of the filter has a separate sum.
HWY_NOINLINE void plane_3x3(const DepthwisePlane& plane, const Lines& lines) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* const w = plane.weights;
  const auto w00 = hn::Set(d, w[0]), w01 = hn::Set(d, w[1]), w02 = hn::Set(d, w[2]);
  const auto w10 = hn::Set(d, w[3]), w11 = hn::Set(d, w[4]), w12 = hn::Set(d, w[5]);
  const auto w20 = hn::Set(d, w[6]), w21 = hn::Set(d, w[7]), w22 = hn::Set(d, w[8]);
  const auto start = hn::Set(d, plane.bias);
  const int64_t o0 = lines.offset(plane, 0);
  const int64_t o1 = lines.offset(plane, 1);
  const int64_t o2 = lines.offset(plane, 2);
  for (int64_t y = 0; y < plane.out_height; ++y) {
    const float* const l0 = lines.line(plane, y, 0);
    const float* const l1 = lines.line(plane, y, 1);
    const float* const l2 = lines.line(plane, y, 2);
    float* const to = plane.out + y * plane.out_stride;
    for (int64_t x = 0; x < plane.out_width; x += lanes) {
      auto s0 = hn::MulAdd(hn::LoadU(d, l0 + o0 + x), w00, start);
      auto s1 = hn::Mul(hn::LoadU(d, l1 + o0 + x), w10);
      auto s2 = hn::Mul(hn::LoadU(d, l2 + o0 + x), w20);
      s0 = hn::MulAdd(hn::LoadU(d, l0 + o1 + x), w01, s0);
      s1 = hn::MulAdd(hn::LoadU(d, l1 + o1 + x), w11, s1);
      s2 = hn::MulAdd(hn::LoadU(d, l2 + o1 + x), w21, s2);
      s0 = hn::MulAdd(hn::LoadU(d, l0 + o2 + x), w02, s0);
      s1 = hn::MulAdd(hn::LoadU(d, l1 + o2 + x), w12, s1);
      s2 = hn::MulAdd(hn::LoadU(d, l2 + o2 + x), w22, s2);
      store_part(hn::Add(s0, hn::Add(s1, s2)), d, to + x, plane.out_width - x);
    }
  }
}

// Computes kRows lines of the result from line y on. The separate sums hide the latency of the
// additions.
template <int kRows>
HWY_INLINE void plane_rows(const DepthwisePlane& plane, const Lines& lines, const int64_t* offsets,
                           int64_t y) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t x = 0; x < plane.out_width; x += lanes) {
    hn::Vec<Tag> sums[kRows];
    for (auto& sum : sums) sum = hn::Set(d, plane.bias);
    const float* weights = plane.weights;
    for (int64_t ky = 0; ky < plane.kernel_height; ++ky, weights += plane.kernel_width) {
      const float* from[kRows];
      for (int r = 0; r < kRows; ++r) from[r] = lines.line(plane, y + r, ky) + x;
      for (int64_t kx = 0; kx < plane.kernel_width; ++kx) {
        const auto weight = hn::Set(d, weights[kx]);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          sums[r] = hn::MulAdd(hn::LoadU(d, from[r] + offsets[kx]), weight, sums[r]);
        }
      }
    }
    float* const to = plane.out + y * plane.out_stride + x;
    for (int r = 0; r < kRows; ++r) {
      store_part(sums[r], d, to + r * plane.out_stride, plane.out_width - x);
    }
  }
}

void PlaneOfChannel(const DepthwisePlane& plane) {
  constexpr int kRows = 4;
  const Lines lines = copy_lines(plane);
  if (plane.kernel_height == 3 && plane.kernel_width == 3) return plane_3x3(plane, lines);
  int64_t offsets[kMaxDepthwiseTaps];
  for (int64_t kx = 0; kx < plane.kernel_width; ++kx) offsets[kx] = lines.offset(plane, kx);
  if (plane.out_height < kRows) {
    for (int64_t y = 0; y < plane.out_height; ++y) plane_rows<1>(plane, lines, offsets, y);
    return;
  }
  // The last two groups of lines may overlap.
  for (int64_t y = 0; y < plane.out_height; y += kRows) {
    plane_rows<kRows>(plane, lines, offsets, std::min(y, plane.out_height - kRows));
  }
}

void TakeEveryOther(const float* from, int64_t count, float* to) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes < count; i += lanes) {  // reads one element more than needed
    hn::Vec<Tag> first;
    hn::Vec<Tag> second;
    hn::LoadInterleaved2(d, from + 2 * i, first, second);
    hn::StoreU(first, d, to + i);
  }
  for (; i < count; ++i) to[i] = from[2 * i];
}

// Computes `kVectors` vectors of channels of one pixel, from channel c on. `room` is the number of
// channels left.
template <int kVectors, class T>
HWY_INLINE void sum_of_taps(const DepthwisePixels<T>& pixels, int64_t pixel, int64_t c,
                            int64_t room) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Tag> s0 = pixels.bias != nullptr ? load_part(d, pixels.bias + c, room) : hn::Zero(d);
  hn::Vec<Tag> s1 = s0;
  hn::Vec<Tag> s2 = s0;
  hn::Vec<Tag> s3 = s0;
  if (kVectors == 4 && pixels.bias != nullptr) {
    s1 = hn::LoadU(d, pixels.bias + c + lanes);
    s2 = hn::LoadU(d, pixels.bias + c + 2 * lanes);
    s3 = hn::LoadU(d, pixels.bias + c + 3 * lanes);
  }
  for (int64_t t = 0; t < pixels.taps; ++t) {
    const T* const in = pixels.in[t] + pixel * pixels.in_step + c;
    const float* const weights = pixels.weights[t] + c;
    if constexpr (kVectors == 4) {
      s0 = hn::MulAdd(load_floats(in), hn::LoadU(d, weights), s0);
      s1 = hn::MulAdd(load_floats(in + lanes), hn::LoadU(d, weights + lanes), s1);
      s2 = hn::MulAdd(load_floats(in + 2 * lanes), hn::LoadU(d, weights + 2 * lanes), s2);
      s3 = hn::MulAdd(load_floats(in + 3 * lanes), hn::LoadU(d, weights + 3 * lanes), s3);
    } else {
      s0 = hn::MulAdd(load_floats(in, room), load_part(d, weights, room), s0);
    }
  }
  T* const out = pixels.out + pixel * pixels.out_step + c;
  store_floats(s0, out, room);
  if constexpr (kVectors == 4) {
    store_floats(s1, out + lanes, lanes);
    store_floats(s2, out + 2 * lanes, lanes);
    store_floats(s3, out + 3 * lanes, lanes);
  }
}

// Computes a vector of channels for four pixels from `pixel` on.
HWY_INLINE void sums_of_four_pixels(const DepthwisePixels<float>& pixels, int64_t pixel,
                                    int64_t c) {
  const Tag d;
  const int64_t room = pixels.channels - c;
  const auto bias = pixels.bias != nullptr ? load_part(d, pixels.bias + c, room) : hn::Zero(d);
  hn::Vec<Tag> sums[] = {bias, bias, bias, bias};
  for (int64_t t = 0; t < pixels.taps; ++t) {
    const float* const in = pixels.in[t] + pixel * pixels.in_step + c;
    const auto weights = load_part(d, pixels.weights[t] + c, room);
#pragma GCC unroll 4
    for (int64_t p = 0; p < 4; ++p) {
      sums[p] = hn::MulAdd(load_floats(in + p * pixels.in_step, room), weights, sums[p]);
    }
  }
#pragma GCC unroll 4
  for (int64_t p = 0; p < 4; ++p) {
    store_floats(sums[p], pixels.out + (pixel + p) * pixels.out_step + c, room);
  }
}

// True if four vectors of channels are computed at a time. False only for Half with the SSE4 and
// scalar targets, on which the XNNPACK backend never computes Half.
template <class T>
constexpr bool kFourVectors = sizeof(T) == sizeof(float) ||
                              (HWY_TARGET != HWY_SSE4 && HWY_TARGET != HWY_SCALAR);

template <class T>
HWY_INLINE void pixels_of_channels(const DepthwisePixels<T>& pixels) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag()));
  int64_t first = 0;
  if constexpr (kFourVectors<T>) {
    for (int64_t pixel = 0; pixel < pixels.count; ++pixel) {
      for (first = 0; first + 4 * lanes <= pixels.channels; first += 4 * lanes) {
        sum_of_taps<4>(pixels, pixel, first, lanes);
      }
    }
  }
  for (int64_t c = first; c < pixels.channels; c += lanes) {
    int64_t pixel = 0;
    if constexpr (std::is_same_v<T, float>) {
      for (; pixel + 4 <= pixels.count; pixel += 4) sums_of_four_pixels(pixels, pixel, c);
    }
    for (; pixel < pixels.count; ++pixel) sum_of_taps<1>(pixels, pixel, c, pixels.channels - c);
  }
}

void PixelsOfChannels(const DepthwisePixels<float>& pixels) { pixels_of_channels(pixels); }
void HalfPixelsOfChannels(const DepthwisePixels<Half>& pixels) { pixels_of_channels(pixels); }

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(PlaneOfChannel);
VITRINE_EXPORT(TakeEveryOther);
VITRINE_EXPORT(PixelsOfChannels);
VITRINE_EXPORT(HalfPixelsOfChannels);

void depthwise_plane(const DepthwisePlane& plane) { VITRINE_DISPATCH(PlaneOfChannel)(plane); }
void take_every_other(const float* from, int64_t count, float* to) {
  VITRINE_DISPATCH(TakeEveryOther)(from, count, to);
}
void depthwise_pixels(const DepthwisePixels<float>& pixels) {
  VITRINE_DISPATCH(PixelsOfChannels)(pixels);
}
void depthwise_pixels(const DepthwisePixels<Half>& pixels) {
  VITRINE_DISPATCH(HalfPixelsOfChannels)(pixels);
}

}  // namespace vitrine::optimized::simd
#endif
