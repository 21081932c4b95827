#include "kernels/optimized/simd/few_outputs.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/few_outputs.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<float, 16>;
using Floats = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

int64_t LanesOfFewOutputs() { return kLanes; }

// The XNNPACK backend calls these functions only if vectors are wider than 16 bytes.
#if HWY_MAX_BYTES > 16

// Lane i of the result is the sum of the lanes of vectors[i].
template <int kCount>
HWY_INLINE Floats sums_of_lanes(const Floats* vectors) {
  if constexpr (kCount == 1) {
    return vectors[0];
  } else {
    const Tag d;
    Floats sums[kCount / 2];
    for (int i = 0; i < kCount / 2; ++i) {
      const Floats a = vectors[2 * i], b = vectors[2 * i + 1];
      sums[i] = hn::Add(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
    }
    return sums_of_lanes<kCount / 2>(sums);
  }
}

// Iterates over output pixels and provides pointers to the input pixels of each output pixel.
class PixelPointers {
 public:
  HWY_INLINE PixelPointers(const TapTable& in, int64_t taps, int64_t first)
      : in_(in), in_tile_(first % in.tile), taps_(taps) {
    if (in.table == nullptr) {
      image_ = in.image + first * in.image_step;
    } else {
      at_ = in.table + (first - in_tile_) * taps + in_tile_;
    }
  }
  // Returns the address of the pointer to the first tap's pixel. Without a table, this pointer is
  // `direct`.
  HWY_INLINE const float* const* get(const float*& direct) const {
    direct = image_;
    return in_.table == nullptr ? &direct : at_;
  }
  HWY_INLINE void next() {
    if (in_.table == nullptr) {
      image_ += in_.image_step;
    } else if (++at_, ++in_tile_ == in_.tile) {
      in_tile_ = 0;
      at_ += in_.tile * (taps_ - 1);
    }
  }

 private:
  const TapTable& in_;
  int64_t in_tile_;
  int64_t taps_;
  const float* const* at_ = nullptr;
  const float* image_ = nullptr;
};

// The sums of several output pixels: a vector of partial sums for each output channel of a pixel.
template <int kOutputs>
struct Sums {
  // Number of pixels whose results fit into one vector.
  static constexpr int kPixels = kLanes / kOutputs;

  HWY_INLINE Sums() {
    HWY_UNROLL(16)
    for (Floats& sum : of) sum = hn::Zero(Tag());
  }
  HWY_INLINE void add(const float* const* pixels, int64_t channel, int64_t count,
                      const float* weights) {
    const Tag d;
    // Masked loads of vectors wider than 16 bytes do not access memory beyond the pixel.
    const auto mask = hn::FirstN(d, static_cast<size_t>(count));
    Floats weight[kOutputs];
    HWY_UNROLL(4)
    for (int o = 0; o < kOutputs; ++o) weight[o] = hn::LoadU(d, weights + o * kLanes);
    HWY_UNROLL(16)
    for (int p = 0; p < kPixels; ++p) {
      const auto x = hn::MaskedLoad(mask, d, pixels[p] + channel);
      HWY_UNROLL(4)
      for (int o = 0; o < kOutputs; ++o) {
        of[p * kOutputs + o] = hn::MulAdd(x, weight[o], of[p * kOutputs + o]);
      }
    }
  }

  Floats of[kLanes];  // sums after the last pixel stay zero
};

template <int kOutputs>
HWY_INLINE void convolve(const FewOutputs& shape, const float* weights,
                         const FewOutputPixels& out) {
  constexpr int kPixels = Sums<kOutputs>::kPixels;
  const Tag d;
  const auto min = hn::Set(d, out.min), max = hn::Set(d, out.max);
  const auto bias = hn::LoadU(d, weights);
  PixelPointers pointers(out.in, shape.taps, out.first);
  for (int64_t first = 0; first < out.count; first += kPixels) {
    const float* direct[kPixels];
    const float* const* in[kPixels];
    for (int p = 0; p < kPixels; ++p) {
      in[p] = pointers.get(direct[p]);
      if (first + p + 1 < out.count) pointers.next();
    }
    Sums<kOutputs> sums;
    const float* w = weights + kLanes;
    for (int64_t tap = 0; tap < shape.taps; ++tap) {
      const float* pixels[kPixels];
      for (int p = 0; p < kPixels; ++p) {
        const float* const pixel = in[p][tap * out.in.tile];
        const size_t offset = pixel == out.in.padding ? 0 : out.in.offset;
        pixels[p] = reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(pixel) + offset);
      }
      for (int64_t c = 0; c < shape.in_channels; c += kLanes, w += kOutputs * kLanes) {
        sums.add(pixels, c, std::min<int64_t>(kLanes, shape.in_channels - c), w);
      }
    }
    const auto result = hn::Add(sums_of_lanes<kLanes>(sums.of), bias);
    store_part(hn::Min(max, hn::Max(min, result)), d, out.out + first * kOutputs,
               std::min<int64_t>(kPixels, out.count - first) * kOutputs);
  }
}

void ConvolveFewOutputs(const FewOutputs& shape, const float* weights,
                        const FewOutputPixels& pixels) {
  switch (shape.out_channels) {
    case 1:
      return convolve<1>(shape, weights, pixels);
    case 2:
      return convolve<2>(shape, weights, pixels);
    case 3:
      return convolve<3>(shape, weights, pixels);
    default:
      return convolve<4>(shape, weights, pixels);
  }
}

#else

void ConvolveFewOutputs(const FewOutputs&, const float*, const FewOutputPixels&) {}

#endif

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(LanesOfFewOutputs);
VITRINE_EXPORT(ConvolveFewOutputs);

namespace {
int64_t lanes() { return VITRINE_DISPATCH(LanesOfFewOutputs)(); }
}  // namespace

// The weights begin with a vector of biases: the biases of all output channels, repeated for each
// pixel. Then each tap and block of input channels has one vector for each output channel.
int64_t FewOutputs::weight_floats() const { return weight_at(taps, 0, 0); }
void FewOutputs::set_bias(int64_t out_channel, float bias, float* weights) const {
  for (int64_t i = out_channel; i < lanes(); i += out_channels) weights[i] = bias;
}
int64_t FewOutputs::weight_at(int64_t tap, int64_t in_channel, int64_t out_channel) const {
  const int64_t width = lanes();
  const int64_t blocks = (in_channels + width - 1) / width;
  const int64_t block = tap * blocks + in_channel / width;
  return (1 + block * out_channels + out_channel) * width + in_channel % width;
}

void convolve_few_outputs(const FewOutputs& shape, const float* weights,
                          const FewOutputPixels& pixels) {
  VITRINE_DISPATCH(ConvolveFewOutputs)(shape, weights, pixels);
}

}  // namespace vitrine::optimized::simd
#endif
