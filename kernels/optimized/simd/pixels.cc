#include "kernels/optimized/simd/pixels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The XNNPACK backend calls these functions only if vectors are wider than 16 bytes.
#if HWY_MAX_BYTES > 16

template <class T>
HWY_INLINE const T* at_offset(const T* pixel, size_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(pixel) + bytes);
}

// Limits a vector to bounds. NaN stays NaN.
template <class V>
HWY_INLINE V limit(V value, V min, V max) {
  return hn::Min(max, hn::Max(min, value));
}

// Loads scales and biases only once for `kRows` pixels.
template <int kRows>
HWY_INLINE void scale_rows(const ScaledPixels& p, int64_t first) {
  const hn::CappedTag<float, 64> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto min = hn::Set(d, p.min), max = hn::Set(d, p.max);
  const float* const in = p.in + first * p.in_step;
  float* const out = p.out + first * p.out_step;
  int64_t c = 0;
  for (; c + lanes <= p.channels; c += lanes) {
    const auto scale = hn::LoadU(d, p.scales + c), bias = hn::LoadU(d, p.biases + c);
    for (int row = 0; row < kRows; ++row) {
      const auto x = hn::LoadU(d, in + row * p.in_step + c);
      hn::StoreU(limit(hn::MulAdd(x, scale, bias), min, max), d, out + row * p.out_step + c);
    }
  }
  if (c == p.channels) return;
  // Masked loads and stores of vectors wider than 16 bytes do not access memory beyond the pixel.
  const auto mask = hn::FirstN(d, static_cast<size_t>(p.channels - c));
  const auto scale = hn::MaskedLoad(mask, d, p.scales + c);
  const auto bias = hn::MaskedLoad(mask, d, p.biases + c);
  for (int row = 0; row < kRows; ++row) {
    const auto x = hn::MaskedLoad(mask, d, in + row * p.in_step + c);
    hn::BlendedStore(limit(hn::MulAdd(x, scale, bias), min, max), mask, d,
                     out + row * p.out_step + c);
  }
}

void ScalePixels(const ScaledPixels& p) {
  constexpr int kRows = 4;
  int64_t i = 0;
  for (; i + kRows <= p.count; i += kRows) scale_rows<kRows>(p, i);
  for (; i < p.count; ++i) scale_rows<1>(p, i);
}

// The pixels of one window. `kCount` is their number, or 0 if the number is known only at run time.
template <class T, int kCount>
struct Taps {
  HWY_INLINE Taps(const PixelWindows<T>& w, int64_t window) : count(kCount != 0 ? kCount : w.taps) {
    const T* const* const from = w.in + window * w.step;
    for (int64_t t = 0; t < count; ++t) {
      const bool is_padding = w.padding != nullptr && from[t] == w.padding;
      pixels[t] = at_offset(from[t], is_padding ? 0 : w.offset);
    }
  }

  const T* pixels[kCount != 0 ? kCount : PixelWindows<T>::kMaxTaps];
  int64_t count;
};

// Calls body(c) for the first channel of each vector. The last two vectors may overlap.
template <class D, class Body>
HWY_INLINE void for_each_vector(D d, int64_t channels, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) body(std::min(c, channels - lanes));
}

template <class T, int kCount>
HWY_INLINE void largest_of(const PixelWindows<T>& w) {
  const hn::CappedTag<T, 64> d;
  const auto min = hn::Set(d, w.min), max = hn::Set(d, w.max);
  for (int64_t i = 0; i < w.count; ++i) {
    const Taps<T, kCount> taps(w, i);
    const int64_t count = kCount != 0 ? kCount : taps.count;
    for_each_vector(d, w.channels, [&](int64_t c) HWY_ATTR {
      auto best = hn::LoadU(d, taps.pixels[0] + c);
      HWY_UNROLL(8)
      for (int64_t t = 1; t < count; ++t) best = hn::Max(best, hn::LoadU(d, taps.pixels[t] + c));
      hn::StoreU(limit(best, min, max), d, w.out + i * w.out_step + c);
    });
  }
}
template <class T>
HWY_INLINE void largest(const PixelWindows<T>& w) {
  if (w.taps == 4) return largest_of<T, 4>(w);
  if (w.taps == 9) return largest_of<T, 9>(w);
  largest_of<T, 0>(w);
}
void LargestFloats(const PixelWindows<float>& windows) { largest(windows); }
void LargestBytes(const PixelWindows<int8_t>& windows) { largest(windows); }

// Adding pixels pairwise has smaller rounding errors than adding pixels one by one.
template <int kCount, class Load>
HWY_INLINE auto sum_of_taps(int64_t count, const Load& load) {
  const auto two = [&](int64_t t) HWY_ATTR { return hn::Add(load(t), load(t + 1)); };
  const auto four = [&](int64_t t) HWY_ATTR { return hn::Add(two(t), two(t + 2)); };
  const auto eight = [&](int64_t t) HWY_ATTR { return hn::Add(four(t), four(t + 4)); };
  if constexpr (kCount == 4) return four(0);
  if constexpr (kCount == 9) return hn::Add(eight(0), load(8));
  int64_t t = 0;
  auto sum = hn::Zero(hn::CappedTag<float, 64>());
  for (; t + 8 <= count; t += 8) sum = hn::Add(sum, eight(t));
  if (count - t >= 4) {
    sum = hn::Add(sum, four(t));
    t += 4;
  }
  if (count - t >= 2) {
    sum = hn::Add(sum, two(t));
    t += 2;
  }
  return t < count ? hn::Add(sum, load(t)) : sum;
}

template <int kCount>
HWY_INLINE void scaled_sums(const PixelWindows<float>& w, const float* scales, int64_t scale_step) {
  const hn::CappedTag<float, 64> d;
  const auto min = hn::Set(d, w.min), max = hn::Set(d, w.max);
  for (int64_t i = 0; i < w.count; ++i) {
    const Taps<float, kCount> taps(w, i);
    const auto scale = hn::Set(d, scales[i * scale_step]);
    for_each_vector(d, w.channels, [&](int64_t c) HWY_ATTR {
      const auto load = [&](int64_t t) HWY_ATTR { return hn::LoadU(d, taps.pixels[t] + c); };
      const auto sum = sum_of_taps<kCount>(taps.count, load);
      hn::StoreU(limit(hn::Mul(sum, scale), min, max), d, w.out + i * w.out_step + c);
    });
  }
}
void ScaledSumsOfPixels(const PixelWindows<float>& w, const float* scales, int64_t scale_step) {
  if (w.taps == 4) return scaled_sums<4>(w, scales, scale_step);
  if (w.taps == 9) return scaled_sums<9>(w, scales, scale_step);
  scaled_sums<0>(w, scales, scale_step);
}

template <class V>
HWY_INLINE V between(V first, V second, V weight) {
  return hn::MulAdd(hn::Sub(second, first), weight, first);
}

void InterpolatePixels(const BetweenPixels& p) {
  const hn::CappedTag<float, 64> d;
  for (int64_t i = 0; i < p.count; ++i) {
    const float* corners[4];
    for (int k = 0; k < 4; ++k) corners[k] = at_offset(p.corners[4 * i + k], p.offset);
    const auto right = hn::Set(d, p.weights[2 * i]);
    const auto bottom = hn::Set(d, p.weights[2 * i + 1]);
    for_each_vector(d, p.channels, [&](int64_t c) HWY_ATTR {
      const auto load = [&](int k) HWY_ATTR { return hn::LoadU(d, corners[k] + c); };
      const auto top_line = between(load(0), load(1), right);
      const auto bottom_line = between(load(2), load(3), right);
      hn::StoreU(between(top_line, bottom_line, bottom), d, p.out + i * p.out_step + c);
    });
  }
}

#else

void ScalePixels(const ScaledPixels&) {}
void LargestFloats(const PixelWindows<float>&) {}
void LargestBytes(const PixelWindows<int8_t>&) {}
void ScaledSumsOfPixels(const PixelWindows<float>&, const float*, int64_t) {}
void InterpolatePixels(const BetweenPixels&) {}

#endif

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(ScalePixels);
VITRINE_EXPORT(LargestFloats);
VITRINE_EXPORT(LargestBytes);
VITRINE_EXPORT(ScaledSumsOfPixels);
VITRINE_EXPORT(InterpolatePixels);

void scale_pixels(const ScaledPixels& pixels) { VITRINE_DISPATCH(ScalePixels)(pixels); }
void largest_pixels(const PixelWindows<float>& windows) {
  VITRINE_DISPATCH(LargestFloats)(windows);
}
void largest_pixels(const PixelWindows<int8_t>& windows) {
  VITRINE_DISPATCH(LargestBytes)(windows);
}
void scaled_sums_of_pixels(const PixelWindows<float>& windows, const float* scales,
                           int64_t scale_step) {
  VITRINE_DISPATCH(ScaledSumsOfPixels)(windows, scales, scale_step);
}
void interpolate_pixels(const BetweenPixels& pixels) {
  VITRINE_DISPATCH(InterpolatePixels)(pixels);
}

}  // namespace vitrine::optimized::simd
#endif
