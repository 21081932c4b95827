#include "kernels/util/transpose.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <utility>

namespace vitrine {

namespace {

constexpr int64_t kVectorBytes = 16;  // what every instruction set has
constexpr int64_t kLineBytes = 64;    // of the cache
constexpr int64_t kDepth = 4;         // blocks one after the other along a row of the result
[[maybe_unused]] constexpr int64_t kStreamFrom = int64_t{16} << 20;

// Each round interleaves the first half of the rows with the second; as many rounds as an index has
// bits exchange the indices. Strides count bytes.
template <class Element>
void transpose_tile(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride) {
  using Vector [[gnu::vector_size(kVectorBytes)]] = Element;
  constexpr int kLanes = kVectorBytes / sizeof(Element);
  Vector rows[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) std::memcpy(&rows[i], from + i * from_stride, sizeof(Vector));
#pragma GCC unroll 4
  for (int round = 1; round < kLanes; round *= 2) {
    Vector next[kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes / 2; ++i) {
      [&]<size_t... lane>(std::index_sequence<lane...>) {
        const Vector a = rows[i];
        const Vector b = rows[i + kLanes / 2];
        next[2 * i] = __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * kLanes)...);
        next[2 * i + 1] =
            __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * kLanes + kLanes / 2)...);
      }
      (std::make_index_sequence<kLanes>());
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Vector));
}

using Tile = void (*)(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride);

Tile tile_of(size_t size) {
  switch (size) {
    case 1:
      return transpose_tile<uint8_t>;
    case 2:
      return transpose_tile<uint16_t>;
    case 4:
      return transpose_tile<uint32_t>;
    default:
      return nullptr;
  }
}

// What is moved at a time, transposed: lines of the result.
struct Block {
  alignas(kLineBytes) std::byte lines[kLineBytes][kLineBytes];

  void store(std::byte* to, int64_t to_stride, int64_t height, int64_t bytes, bool stream) const {
    for (int64_t i = 0; i < height; ++i) {
      std::byte* const line = to + i * to_stride;
      if (stream) {
        stream_line(lines[i], line, bytes);
      } else if (bytes == kLineBytes) {
        std::memcpy(line, lines[i], kLineBytes);
      } else {
        std::memcpy(line, lines[i], static_cast<size_t>(bytes));
      }
    }
  }

 private:
#ifdef __SSE2__
  static void stream_line(const std::byte* from, std::byte* to, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += kVectorBytes) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
  }
#else
  static void stream_line(const std::byte* from, std::byte* to, int64_t bytes) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
#endif
};

// Bytes of a first short block in each row, after which all others are whole lines; 0 if rows
// differ in that.
int64_t lead(const std::byte* first, int64_t stride) {
  const auto before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(first) % kLineBytes);
  return stride % kLineBytes == 0 && before % kVectorBytes == 0 ? before : 0;
}

// Results that no cache will hold go to memory past it: it need not be read first.
bool may_stream(const std::byte* to, int64_t stride, int64_t bytes) {
#ifdef __SSE2__
  return bytes >= kStreamFrom && stride % kLineBytes == 0 &&
         reinterpret_cast<uintptr_t>(to) % kVectorBytes == 0;
#else
  (void)to, (void)stride, (void)bytes;
  return false;
#endif
}

}  // namespace

int64_t transposed_tile(size_t size) {
  return tile_of(size) == nullptr ? 0 : kVectorBytes / static_cast<int64_t>(size);
}

// By blocks of whole lines, both in `from` and in `to`: if strides are powers of two, the cache
// does not hold several lines of different rows until they are full.
void transpose_tiles(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                     int64_t rows, int64_t columns, size_t size, int64_t whole) {
  const Tile tile = tile_of(size);
  const auto bytes = static_cast<int64_t>(size);
  const int64_t lanes = kVectorBytes / bytes;
  const int64_t line = kLineBytes / bytes;
  from_stride *= bytes;
  to_stride *= bytes;
  const int64_t lead_of_row = lead(to, to_stride) / bytes;
  const int64_t lead_of_column = lead(from, from_stride) / bytes;
  const bool stream = may_stream(to, to_stride, whole * bytes);
  Block block;
  const auto move = [&](int64_t row, int64_t column, int64_t height, int64_t width) {
    const std::byte* const source = from + column * from_stride + row * bytes;
    for (int64_t c = 0; c < width; c += lanes) {
      for (int64_t r = 0; r < height; r += lanes) {
        tile(source + c * from_stride + r * bytes, from_stride, block.lines[r] + c * bytes,
             kLineBytes);
      }
    }
    block.store(to + row * to_stride + column * bytes, to_stride, height, width * bytes, stream);
  };
  for (int64_t start = -lead_of_row; start < columns; start += kDepth * line) {
    const int64_t end = std::min(columns, start + kDepth * line);
    for (int64_t row = -lead_of_column; row < rows; row += line) {
      const int64_t first_row = std::max<int64_t>(row, 0);
      for (int64_t column = start; column < end; column += line) {
        const int64_t first = std::max<int64_t>(column, 0);
        move(first_row, first, std::min(row + line, rows) - first_row,
             std::min(column + line, end) - first);
      }
    }
  }
#ifdef __SSE2__
  if (stream) _mm_sfence();
#endif
}

}  // namespace vitrine
