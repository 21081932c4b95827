#include "kernels/optimized/simd/int8_depthwise.h"

#ifdef __x86_64__

#if defined(__GNUC__) && !defined(__clang__)  // GCC 12 warns about its own AVX-512 header
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define VITRINE_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace vitrine::optimized::simd {
namespace {

constexpr size_t kBlock = 64;   // number of channels in a block
constexpr size_t kVectors = 4;  // number of 32-bit vectors of sums in a block
constexpr size_t kTaps = 4;     // number of taps per instruction
constexpr size_t kVectorBytes = 64;

// With 3 x 3 taps and a step of 1 or 2, each column of taps is a group. A column in the windows of
// several pixels is then loaded only once.
bool shares_columns(const Int8DepthwiseWindow& w) {
  return w.rows == 3 && w.columns == 3 && w.step <= 2;
}
size_t groups_of(const Int8DepthwiseWindow& w) {
  return shares_columns(w) ? w.columns : (w.rows * w.columns + kTaps - 1) / kTaps;
}
size_t block_bytes(const Int8DepthwiseWindow& w) {
  return (groups_of(w) + 2) * kVectors * kVectorBytes;
}
// Number of pixels that fit into a register.
size_t ways_of(size_t channels) { return channels <= 32 ? 2 : 1; }

// Position of a channel's sum among the 32-bit lanes of a block. load_taps() interleaves bytes, so
// the lanes are not in the order of the channels.
size_t lane_of(size_t channel) {
  const size_t part = channel / 16, vector = channel % 16 / 4;
  return vector * 16 + part * 4 + channel % 4;
}

struct Block {
  const Int8DepthwiseRow* row;
  const std::byte* weights;
  size_t channel;
  size_t channels;
  size_t groups;
  size_t taps;
  size_t step;  // pointers from pixel to pixel

  const void* starts(size_t vector) const { return weights + vector * kVectorBytes; }
  const void* group(size_t index) const { return weights + (1 + index) * kVectors * kVectorBytes; }
  const float* scales(size_t vector) const {
    return reinterpret_cast<const float*>(weights +
                                          ((1 + groups) * kVectors + vector) * kVectorBytes);
  }
  const int8_t* at(const int8_t* in) const {
    return (in == row->zero ? in : in + row->offset) + channel;
  }
  __mmask64 mask() const { return ~uint64_t{0} >> (kBlock - channels); }
};

VITRINE_VNNI inline __m256i load_half(const Block& b, const int8_t* in) {
  return _mm256_maskz_loadu_epi8(static_cast<__mmask32>(b.mask()), b.at(in));
}

// Loads the inputs of one tap. kWays = 1: one pixel, at in[0]. kWays = 2: two pixels, at in[0] and
// in[distance].
template <size_t kWays>
VITRINE_VNNI inline __m512i load(const Block& b, const int8_t* const* in, size_t distance) {
  __m512i result;
  if constexpr (kWays == 1) {
    result = _mm512_maskz_loadu_epi8(b.mask(), b.at(in[0]));
  } else {
    result = _mm512_inserti64x4(_mm512_castsi256_si512(load_half(b, in[0])),
                                load_half(b, in[distance]), 1);
  }
  return _mm512_xor_si512(result, _mm512_set1_epi8(-128));  // the instruction needs unsigned inputs
}

// Four registers, each with four taps of 16 channels.
struct Taps {
  __m512i of[kVectors];
};
// Loads the next `count` taps, at most four. Other taps have zero weights and may have any value.
template <size_t kWays>
VITRINE_VNNI inline Taps load_taps(const Block& b, const int8_t* const* in, size_t distance,
                                   size_t count) {
  const __m512i tap0 = load<kWays>(b, in, distance);
  const __m512i tap1 = count > 1 ? load<kWays>(b, in + 1, distance) : tap0;
  const __m512i tap2 = count > 2 ? load<kWays>(b, in + 2, distance) : tap0;
  const __m512i tap3 = count > 3 ? load<kWays>(b, in + 3, distance) : tap0;
  const __m512i low01 = _mm512_unpacklo_epi8(tap0, tap1);
  const __m512i high01 = _mm512_unpackhi_epi8(tap0, tap1);
  const __m512i low23 = _mm512_unpacklo_epi8(tap2, tap3);
  const __m512i high23 = _mm512_unpackhi_epi8(tap2, tap3);
  return {{_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
           _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)}};
}

struct Sums {
  __m512i of[kVectors];
};
VITRINE_VNNI inline Sums start(const Block& b) {
  Sums sums;
  for (size_t v = 0; v < kVectors; ++v) sums.of[v] = _mm512_loadu_si512(b.starts(v));
  return sums;
}
VITRINE_VNNI inline void add(const Block& b, const Taps& taps, size_t group, Sums& sums) {
  const auto* const weights = static_cast<const __m512i*>(b.group(group));
  for (size_t v = 0; v < kVectors; ++v) {
    sums.of[v] = _mm512_dpbusd_epi32(sums.of[v], taps.of[v], _mm512_loadu_si512(weights + v));
  }
}

// Rounds f32 values to the nearest integer, ties to even, like XNNPACK. The pack instructions
// restore the order of the channels.
VITRINE_VNNI inline __m512i quantize(const Block& b, const Sums& sums) {
  const Int8DepthwiseRow& row = *b.row;
  const __m512 max = _mm512_set1_ps(static_cast<float>(row.max - row.zero_point));
  const __m512i zero_point = _mm512_set1_epi16(static_cast<int16_t>(row.zero_point));
  __m512i rounded[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    const __m512 scaled =
        _mm512_mul_ps(_mm512_cvtepi32_ps(sums.of[v]), _mm512_loadu_ps(b.scales(v)));
    rounded[v] = _mm512_cvtps_epi32(_mm512_min_ps(scaled, max));
  }
  const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(rounded[0], rounded[1]), zero_point);
  const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(rounded[2], rounded[3]), zero_point);
  return _mm512_max_epi8(_mm512_packs_epi16(low, high), _mm512_set1_epi8(row.min));
}

// Stores `kWays` pixels at a distance of `distance` pixels.
template <size_t kWays>
VITRINE_VNNI inline void store(const Block& b, __m512i value, size_t pixel, size_t distance) {
  const size_t stride = b.row->out_stride;
  int8_t* const out = b.row->out + pixel * stride + b.channel;
  if constexpr (kWays == 1) {
    _mm512_mask_storeu_epi8(out, b.mask(), value);
  } else {
    const auto mask = static_cast<__mmask32>(b.mask());
    _mm256_mask_storeu_epi8(out, mask, _mm512_castsi512_si256(value));
    _mm256_mask_storeu_epi8(out + distance * stride, mask, _mm512_extracti64x4_epi64(value, 1));
  }
}

// Computes `count` pixels in each of `kWays` parts of the row. The parts begin `distance` pixels
// apart.
template <size_t kWays, size_t kStep>
VITRINE_VNNI void compute_sharing(const Block& b, size_t first, size_t count, size_t distance) {
  constexpr size_t kRows = 3;
  const int8_t* const* in = b.row->in + first * b.step;
  const size_t way = distance * b.step;
  Taps left = load_taps<kWays>(b, in, way, kRows), middle;
  if constexpr (kStep == 1) middle = load_taps<kWays>(b, in + kRows, way, kRows);
  for (size_t pixel = first; pixel < first + count; ++pixel, in += kStep * kRows) {
    if constexpr (kStep == 2) middle = load_taps<kWays>(b, in + kRows, way, kRows);
    const Taps right = load_taps<kWays>(b, in + 2 * kRows, way, kRows);
    Sums sums = start(b);
    add(b, left, 0, sums);
    add(b, middle, 1, sums);
    add(b, right, 2, sums);
    store<kWays>(b, quantize(b, sums), pixel, distance);
    left = kStep == 1 ? middle : right;
    if constexpr (kStep == 1) middle = right;
  }
}

template <size_t kWays>
VITRINE_VNNI void compute_each(const Block& b, size_t first, size_t count, size_t distance) {
  const int8_t* const* in = b.row->in + first * b.step;
  for (size_t pixel = first; pixel < first + count; ++pixel, in += b.step) {
    Sums sums = start(b);
    size_t group = 0, tap = 0;
    for (; tap + kTaps <= b.taps; tap += kTaps, ++group) {
      add(b, load_taps<kWays>(b, in + tap, distance * b.step, kTaps), group, sums);
    }
    if (tap < b.taps) {
      add(b, load_taps<kWays>(b, in + tap, distance * b.step, b.taps - tap), group, sums);
    }
    store<kWays>(b, quantize(b, sums), pixel, distance);
  }
}

template <size_t kWays>
void compute(const Int8DepthwiseWindow& w, const Block& b) {
  const size_t pixels = b.row->pixels;
  auto* run = &compute_each<kWays>;
  if (shares_columns(w))
    run = w.step == 1 ? &compute_sharing<kWays, 1> : &compute_sharing<kWays, 2>;
  const size_t distance = pixels / kWays;
  if (distance > 0) run(b, 0, distance, distance);
  // The pixels that remain after `kWays` equal parts.
  for (size_t pixel = distance * kWays; pixel < pixels; ++pixel) run(b, pixel, 1, 0);
}

}  // namespace

size_t Int8DepthwiseWindow::weight_bytes() const {
  return (channels + kBlock - 1) / kBlock * block_bytes(*this);
}

void Int8DepthwiseWindow::pack(size_t channel, int32_t bias, const int8_t* taps, size_t tap_stride,
                               float scale, std::byte* weights) const {
  const size_t first = channel / kBlock * kBlock;
  const size_t ways = ways_of(channels - first);
  std::byte* const block = weights + channel / kBlock * block_bytes(*this);
  const size_t per_group = shares_columns(*this) ? rows : kTaps;
  // load() adds 128 to each input, because the VNNI instruction needs unsigned inputs. Subtracting
  // 128 times each weight from the initial sum compensates for this.
  auto sum = static_cast<uint32_t>(bias);
  for (size_t t = 0; t < rows * columns; ++t) {
    sum -= 128 * static_cast<uint32_t>(int32_t{taps[t * tap_stride]});
  }
  for (size_t way = 0; way < ways; ++way) {
    const size_t at = sizeof(float) * lane_of(channel - first + way * (kBlock / ways));
    std::byte* const groups = block + kVectors * kVectorBytes;
    std::memcpy(block + at, &sum, sizeof(sum));
    for (size_t t = 0; t < rows * columns; ++t) {
      groups[t / per_group * kVectors * kVectorBytes + at + t % per_group] =
          static_cast<std::byte>(taps[t * tap_stride]);
    }
    std::memcpy(groups + groups_of(*this) * kVectors * kVectorBytes + at, &scale, sizeof(scale));
  }
}

void int8_depthwise_row(const Int8DepthwiseWindow& w, const Int8DepthwiseRow& row) {
  for (size_t channel = 0; channel < w.channels; channel += kBlock) {
    const Block b{&row,           row.weights + channel / kBlock * block_bytes(w),
                  channel,        std::min(kBlock, w.channels - channel),
                  groups_of(w),   w.rows * w.columns,
                  w.step * w.rows};
    if (ways_of(b.channels) == 1) {
      compute<1>(w, b);
    } else {
      compute<2>(w, b);
    }
  }
}

}  // namespace vitrine::optimized::simd

#else

namespace vitrine::optimized::simd {

size_t Int8DepthwiseWindow::weight_bytes() const { return 0; }
void Int8DepthwiseWindow::pack(size_t, int32_t, const int8_t*, size_t, float, std::byte*) const {}
void int8_depthwise_row(const Int8DepthwiseWindow&, const Int8DepthwiseRow&) {}

}  // namespace vitrine::optimized::simd

#endif
