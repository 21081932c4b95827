#include "kernels/optimized/simd/winograd.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/winograd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/gemm.h"
#include "kernels/optimized/simd/load_floats-inl.h"
#include "runtime/platform/simd_dispatch.h"

#ifndef VITRINE_WINOGRAD_TYPES_
#define VITRINE_WINOGRAD_TYPES_
namespace vitrine::optimized::simd {

// Tiles of 4 use the points 0, +-kA, +-kB and infinity, with kA * kB = 1.
constexpr double kA = 2.0 / 3;
constexpr double kB = 3.0 / 2;

// The weights of a panel, from the panel's first output channel on.
struct WinogradFilter {
  const float* weights;
  int64_t in_channels;
  int64_t out_channels;  // number of channels up to the convolution's last channel
  int64_t width;
};

// A transformed tile of the result. Value i of the tile is at sums[i * step].
template <class T>
struct WinogradResult {
  const float* sums;
  int64_t step;
  const float* bias;
  float min, max;
  T* out;
  int64_t line_stride, pixel_stride;
  int64_t lines, columns;  // lines and columns of the tile that are inside the image
  int64_t channels;
};

}  // namespace vitrine::optimized::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = FloatTag;
static_assert(kGemmMaxLanes == 64);  // the lanes of FloatTag
using V = hn::Vec<Tag>;

HWY_INLINE V winograd_constant(double value) { return hn::Set(Tag(), static_cast<float>(value)); }

// The functions below transform one line or column of a tile.
template <int kTile>
HWY_INLINE void transform_pixels(const V* in, V* out) {
  if constexpr (kTile == 2) {
    out[0] = hn::Sub(in[0], in[2]);
    out[1] = hn::Add(in[1], in[2]);
    out[2] = hn::Sub(in[2], in[1]);
    out[3] = hn::Sub(in[3], in[1]);
  } else {
    const V a = winograd_constant(kA), b = winograd_constant(kB);
    const V a2 = winograd_constant(kA * kA), b2 = winograd_constant(kB * kB);
    const V sum = winograd_constant(kA * kA + kB * kB);
    const V even_a = hn::NegMulAdd(b2, in[2], in[4]);
    const V odd_a = hn::MulSub(a, in[3], hn::Mul(b, in[1]));
    const V even_b = hn::NegMulAdd(a2, in[2], in[4]);
    const V odd_b = hn::MulSub(b, in[3], hn::Mul(a, in[1]));
    out[0] = hn::NegMulAdd(sum, in[2], hn::Add(in[0], in[4]));
    out[1] = hn::Add(even_a, odd_a);
    out[2] = hn::Sub(even_a, odd_a);
    out[3] = hn::Add(even_b, odd_b);
    out[4] = hn::Sub(even_b, odd_b);
    out[5] = hn::NegMulAdd(sum, in[3], hn::Add(in[1], in[5]));
  }
}

template <int kTile>
HWY_INLINE void transform_weights(const V* in, V* out) {
  if constexpr (kTile == 2) {
    const V half = winograd_constant(0.5);
    const V even = hn::Mul(half, hn::Add(in[0], in[2]));
    out[0] = in[0];
    out[1] = hn::MulAdd(half, in[1], even);
    out[2] = hn::NegMulAdd(half, in[1], even);
    out[3] = in[2];
  } else {
    // For point p, the output is (in[0] + p in[1] + p^2 in[2]) / (2 p^2 (p^2 - q^2)). q is kB for
    // the points +-kA, and kA for the points +-kB.
    constexpr double kScaleA = 1 / (2 * kA * kA * (kA * kA - kB * kB));
    constexpr double kScaleB = 1 / (2 * kB * kB * (kB * kB - kA * kA));
    const V even_a = hn::MulAdd(winograd_constant(kA * kA * kScaleA), in[2],
                                hn::Mul(winograd_constant(kScaleA), in[0]));
    const V odd_a = hn::Mul(winograd_constant(kA * kScaleA), in[1]);
    const V even_b = hn::MulAdd(winograd_constant(kB * kB * kScaleB), in[2],
                                hn::Mul(winograd_constant(kScaleB), in[0]));
    const V odd_b = hn::Mul(winograd_constant(kB * kScaleB), in[1]);
    out[0] = in[0];
    out[1] = hn::Add(even_a, odd_a);
    out[2] = hn::Sub(even_a, odd_a);
    out[3] = hn::Add(even_b, odd_b);
    out[4] = hn::Sub(even_b, odd_b);
    out[5] = in[2];
  }
}

template <int kTile>
HWY_INLINE void transform_sums(const V* in, V* out) {
  const V even_a = hn::Add(in[1], in[2]);
  const V odd_a = hn::Sub(in[1], in[2]);
  if constexpr (kTile == 2) {
    out[0] = hn::Add(in[0], even_a);
    out[1] = hn::Add(odd_a, in[3]);
  } else {
    const V even_b = hn::Add(in[3], in[4]);
    const V odd_b = hn::Sub(in[3], in[4]);
    out[0] = hn::Add(in[0], hn::Add(even_a, even_b));
    out[1] = hn::MulAdd(winograd_constant(kA), odd_a, hn::Mul(winograd_constant(kB), odd_b));
    out[2] =
        hn::MulAdd(winograd_constant(kA * kA), even_a, hn::Mul(winograd_constant(kB * kB), even_b));
    out[3] = hn::MulAdd(winograd_constant(kA * kA * kA), odd_a,
                        hn::MulAdd(winograd_constant(kB * kB * kB), odd_b, in[5]));
  }
}

// Not inlined, because these functions run at most once per tile.
template <class T>
HWY_NOINLINE V load_last_channels(const T* from, int64_t count) {
  return load_floats(from, count);
}
HWY_NOINLINE void store_last_channels(V value, float* to, int64_t count) {
  store_part(value, Tag(), to, count);
}

HWY_INLINE void store_full(V value, float* to) { hn::StoreU(value, Tag(), to); }
HWY_INLINE void store_full(V value, Half* to) {
  store_floats(value, to, static_cast<int64_t>(hn::Lanes(Tag())));
}
HWY_INLINE void store_last_channels(V value, Half* to, int64_t count) {
  store_floats(value, to, count);
}

template <int kTile, class T>
HWY_INLINE void transform_pixels_of_tile(const T* const* pixels, int64_t channels, float* to,
                                         int64_t step) {
  constexpr int kSize = kTile + 2;
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const bool is_full = channels - c >= lanes;
    V lines[kSize][kSize];
    for (int x = 0; x < kSize; ++x) {
      V in[kSize];
      V out[kSize];
      for (int y = 0; y < kSize; ++y) {
        const T* const from = pixels[y * kSize + x] + c;
        in[y] = is_full ? load_floats(from) : load_last_channels(from, channels - c);
      }
      transform_pixels<kTile>(in, out);
      for (int y = 0; y < kSize; ++y) lines[y][x] = out[y];
    }
    for (int y = 0; y < kSize; ++y) {
      V out[kSize];
      transform_pixels<kTile>(lines[y], out);
      for (int x = 0; x < kSize; ++x) hn::StoreU(out[x], d, to + (y * kSize + x) * step + c);
    }
  }
}

// Transposes a block of weights at a time. The weights of successive output channels are far apart
// and would evict each other from the first-level cache.
template <int kTile>
HWY_INLINE void transform_panel(const WinogradFilter& filter, float* to) {
  constexpr int kSize = kTile + 2;
  constexpr int64_t kBlock = 16;  // number of input channels in a cache line
  constexpr int64_t kRow = 9 * kBlock;
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto indices = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(kRow)));
  const int64_t step = filter.in_channels * filter.width;  // distance between two points
  float block[kGemmMaxLanes * kRow] = {};                  // output channel, tap, input channel
  for (int64_t c = 0; c < filter.width; c += lanes) {
    const int64_t rows = std::min(lanes, filter.out_channels - c);
    for (int64_t first = 0; first < filter.in_channels; first += kBlock) {
      const int64_t channels = std::min(kBlock, filter.in_channels - first);
      for (int64_t i = 0; i < 9 * rows; ++i) {
        const float* const from = filter.weights + (9 * c + i) * filter.in_channels + first;
        if (channels == kBlock) {
          std::copy_n(from, kBlock, block + i * kBlock);
        } else {
          std::copy_n(from, channels, block + i * kBlock);
        }
      }
      for (int64_t k = 0; k < channels; ++k) {
        V lines[kSize][3];
        for (int x = 0; x < 3; ++x) {
          V in[3];
          V out[kSize];
          for (int y = 0; y < 3; ++y) {
            in[y] = hn::GatherIndex(d, block + (y * 3 + x) * kBlock + k, indices);
          }
          transform_weights<kTile>(in, out);
          for (int y = 0; y < kSize; ++y) lines[y][x] = out[y];
        }
        float* const results = to + (first + k) * filter.width + c;
        for (int y = 0; y < kSize; ++y) {
          V out[kSize];
          transform_weights<kTile>(lines[y], out);
          for (int x = 0; x < kSize; ++x) hn::StoreU(out[x], d, results + (y * kSize + x) * step);
        }
      }
    }
  }
}

template <int kTile, class T>
HWY_INLINE void transform_result(const WinogradResult<T>& tile) {
  constexpr int kSize = kTile + 2;
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V min = hn::Set(d, tile.min);
  const V max = hn::Set(d, tile.max);
  for (int64_t c = 0; c < tile.channels; c += lanes) {
    const int64_t room = tile.channels - c;
    V bias = hn::Zero(d);
    if (tile.bias != nullptr) {
      bias = room >= lanes ? hn::LoadU(d, tile.bias + c) : load_last_channels(tile.bias + c, room);
    }
    V lines[kTile][kSize];
    for (int x = 0; x < kSize; ++x) {
      V in[kSize];
      V out[kTile];
      for (int y = 0; y < kSize; ++y) {
        in[y] = hn::LoadU(d, tile.sums + (y * kSize + x) * tile.step + c);
      }
      transform_sums<kTile>(in, out);
      for (int y = 0; y < kTile; ++y) lines[y][x] = out[y];
    }
    for (int64_t y = 0; y < tile.lines; ++y) {
      V out[kTile];
      transform_sums<kTile>(lines[y], out);
      T* const to = tile.out + y * tile.line_stride + c;
      for (int64_t x = 0; x < tile.columns; ++x) {
        V value = hn::Add(out[x], bias);  // the comparisons keep a NaN, unlike Min and Max
        value = hn::IfThenElse(hn::Lt(value, min), min, value);
        value = hn::IfThenElse(hn::Gt(value, max), max, value);
        if (room >= lanes) {
          store_full(value, to + x * tile.pixel_stride);
        } else {
          store_last_channels(value, to + x * tile.pixel_stride, room);
        }
      }
    }
  }
}

template <class T>
HWY_INLINE void pixels_of(int64_t tile, const T* const* pixels, int64_t channels, float* to,
                          int64_t step) {
  if (tile == 2) return transform_pixels_of_tile<2>(pixels, channels, to, step);
  transform_pixels_of_tile<4>(pixels, channels, to, step);
}
template <class T>
HWY_INLINE void result_of(int64_t tile, const WinogradResult<T>& result) {
  if (tile == 2) return transform_result<2>(result);
  transform_result<4>(result);
}

void TransformPixels(int64_t tile, const float* const* pixels, int64_t channels, float* to,
                     int64_t step) {
  pixels_of(tile, pixels, channels, to, step);
}
void TransformPanel(int64_t tile, const WinogradFilter& filter, float* to) {
  if (tile == 2) return transform_panel<2>(filter, to);
  transform_panel<4>(filter, to);
}
void TransformResult(int64_t tile, const WinogradResult<float>& result) { result_of(tile, result); }
void TransformHalfPixels(int64_t tile, const Half* const* pixels, int64_t channels, float* to,
                         int64_t step) {
  pixels_of(tile, pixels, channels, to, step);
}
void TransformHalfResult(int64_t tile, const WinogradResult<Half>& result) {
  result_of(tile, result);
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(TransformPixels);
VITRINE_EXPORT(TransformPanel);
VITRINE_EXPORT(TransformResult);
VITRINE_EXPORT(TransformHalfPixels);
VITRINE_EXPORT(TransformHalfResult);

namespace {

constexpr int64_t kMaxSize = 6;
// The prefetched channel is this many channels ahead.
constexpr int64_t kChannelsAhead = 32;

int64_t round_up(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

int64_t vectors_of(const WinogradShape& shape, int64_t lanes) {
  return (shape.out_channels + lanes - 1) / lanes;
}

// The scratch memory: a pixel of zeros, the transformed inputs of all tiles, and the transformed
// results of all tiles for one panel. A group has the tiles of one multiply_tile() call. The values
// of a group are ordered by point, then by tile.
struct Scratch {
  Scratch(const WinogradShape& shape, int64_t tiles)
      : gemm(gemm_shape()),
        depth(round_up(shape.in_channels, gemm.lanes)),
        groups((tiles + gemm.rows - 1) / gemm.rows),
        input_point(gemm.rows * depth),
        input_group(shape.points() * input_point),
        sums_point(gemm.rows * kGemmMaxVectors * gemm.lanes),
        sums_group(shape.points() * sums_point) {}

  int64_t floats() const { return depth + groups * (input_group + sums_group); }

  GemmShape gemm;
  int64_t depth;  // input channels, with padding
  int64_t groups;
  int64_t input_point, input_group;
  int64_t sums_point, sums_group;
};

struct TilePosition {
  template <class T>
  TilePosition(const WinogradImages<T>& images, int64_t tile)
      : image(tile / images.tile_columns() / images.tile_lines()),
        y(tile / images.tile_columns() % images.tile_lines() * images.shape.tile),
        x(tile % images.tile_columns() * images.shape.tile) {}

  int64_t image;
  int64_t y, x;  // position of the tile's first result
};

template <class T>
void transform_input(const WinogradImages<T>& images, int64_t tile, const float* zeros, float* to,
                     int64_t step) {
  const TilePosition at(images, tile);
  const int64_t size = images.shape.tile + 2;
  const T* pixels[kMaxSize * kMaxSize];
  for (int64_t i = 0; i < size; ++i) {
    const int64_t y = at.y + i - images.top;
    for (int64_t j = 0; j < size; ++j) {
      const int64_t x = at.x + j - images.left;
      const bool is_inside = y >= 0 && y < images.height && x >= 0 && x < images.width;
      const int64_t pixel = (at.image * images.height + y) * images.width + x;
      pixels[i * size + j] =
          is_inside ? images.in + pixel * images.in_stride : reinterpret_cast<const T*>(zeros);
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    VITRINE_DISPATCH(TransformPixels)
    (images.shape.tile, pixels, images.shape.in_channels, to, step);
  } else {
    VITRINE_DISPATCH(TransformHalfPixels)
    (images.shape.tile, pixels, images.shape.in_channels, to, step);
  }
}

template <class T>
void transform_output(const WinogradImages<T>& images, int64_t tile, const WinogradPanel& panel,
                      const float* sums, int64_t step) {
  const TilePosition at(images, tile);
  const WinogradShape& shape = images.shape;
  const int64_t pixel = (at.image * images.out_height + at.y) * images.out_width + at.x;
  const WinogradResult<T> result{
      .sums = sums,
      .step = step,
      .bias = images.bias == nullptr ? nullptr : images.bias + panel.first,
      .min = images.min,
      .max = images.max,
      .out = images.out + pixel * images.out_stride + panel.first,
      .line_stride = images.out_width * images.out_stride,
      .pixel_stride = images.out_stride,
      .lines = std::min(shape.tile, images.out_height - at.y),
      .columns = std::min(shape.tile, images.out_width - at.x),
      .channels = std::min(panel.width, shape.out_channels - panel.first)};
  if constexpr (std::is_same_v<T, float>) {
    VITRINE_DISPATCH(TransformResult)(shape.tile, result);
  } else {
    VITRINE_DISPATCH(TransformHalfResult)(shape.tile, result);
  }
}

}  // namespace

int64_t winograd_panels(const WinogradShape& shape) {
  return (vectors_of(shape, gemm_shape().lanes) + kGemmMaxVectors - 1) / kGemmMaxVectors;
}

WinogradPanel winograd_panel(const WinogradShape& shape, int64_t panel) {
  const int64_t lanes = gemm_shape().lanes;
  const int64_t panels = winograd_panels(shape);
  const int64_t vectors = vectors_of(shape, lanes);
  const int64_t first = vectors * panel / panels * lanes;
  return {first, vectors * (panel + 1) / panels * lanes - first};
}

int64_t winograd_tile_step() { return gemm_shape().rows; }

int64_t winograd_weights(const WinogradShape& shape) {
  const int64_t lanes = gemm_shape().lanes;
  return shape.points() * shape.in_channels * vectors_of(shape, lanes) * lanes;
}

int64_t winograd_scratch(const WinogradShape& shape, int64_t tiles) {
  return Scratch(shape, tiles).floats();
}

void winograd_transform(const WinogradShape& shape, int64_t panel, const float* filter,
                        float* weights) {
  const WinogradPanel columns = winograd_panel(shape, panel);
  VITRINE_DISPATCH(TransformPanel)
  (shape.tile,
   {.weights = filter + columns.first * 9 * shape.in_channels,
    .in_channels = shape.in_channels,
    .out_channels = shape.out_channels - columns.first,
    .width = columns.width},
   weights + shape.points() * shape.in_channels * columns.first);
}

namespace {

template <class T>
void convolve_part(const WinogradImages<T>& images, const WinogradPart& part, float* scratch) {
  const WinogradShape& shape = images.shape;
  const Scratch layout(shape, part.tiles);
  const int64_t rows = layout.gemm.rows;
  float* const zeros = scratch;
  float* const input = zeros + layout.depth;
  float* const sums = input + layout.groups * layout.input_group;
  std::fill_n(zeros, layout.depth, 0.0F);
  for (int64_t t = 0; t < part.tiles; ++t) {
    transform_input(images, part.first_tile + t, zeros,
                    input + t / rows * layout.input_group + t % rows * layout.depth,
                    layout.input_point);
  }
  for (int64_t p = part.first_panel; p < part.first_panel + part.panels; ++p) {
    const WinogradPanel panel = winograd_panel(shape, p);
    const float* weights = images.weights + shape.points() * shape.in_channels * panel.first;
    for (int64_t point = 0; point < shape.points(); ++point) {
      for (int64_t g = 0; g < layout.groups; ++g) {
        multiply_tile({.left = input + g * layout.input_group + point * layout.input_point,
                       .left_stride = layout.depth,
                       .rows = std::min(rows, part.tiles - g * rows),
                       .right = weights,
                       .right_stride = panel.width,
                       .vectors = panel.width / layout.gemm.lanes,
                       .depth = shape.in_channels,
                       .sums = sums + g * layout.sums_group + point * layout.sums_point,
                       .sums_stride = panel.width,
                       .start = nullptr,
                       .right_ahead = g == 0 ? panel.width * kChannelsAhead : 0});
      }
      weights += shape.in_channels * panel.width;
    }
    for (int64_t t = 0; t < part.tiles; ++t) {
      transform_output(images, part.first_tile + t, panel,
                       sums + t / rows * layout.sums_group + t % rows * panel.width,
                       layout.sums_point);
    }
  }
}

}  // namespace

void winograd_convolve(const WinogradImages<float>& images, const WinogradPart& part,
                       float* scratch) {
  convolve_part(images, part, scratch);
}
void winograd_convolve(const WinogradImages<Half>& images, const WinogradPart& part,
                       float* scratch) {
  convolve_part(images, part, scratch);
}

}  // namespace vitrine::optimized::simd
#endif
