#include "kernels/util/transpose.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <utility>

namespace vitrine {

namespace {

constexpr int64_t kVectorBytes = 16;  // every instruction set has such vectors
constexpr int64_t kLineBytes = 64;
// Tiles of small matrices are stored directly in the result. For larger matrices, each cache line
// of the result is assembled in a buffer and then stored at once.
constexpr int64_t kMaxDirectBytes = int64_t{32} << 10;
constexpr int64_t kDepth = 4;  // number of consecutive blocks along a row of the result
[[maybe_unused]] constexpr int64_t kMinStreamedBytes = int64_t{16} << 20;

// Transposes one tile in log2(kLanes) rounds. Each round interleaves the first half of the rows
// with the second half. Strides are in bytes.
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

// A buffer for a transposed block. Each line of the buffer is an entire or partial cache line of
// the result.
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

// Returns the offset of `first` in its cache line, in bytes. The caller shortens the first block by
// this offset, so that later blocks begin at cache lines. Returns 0 if the offset differs between
// rows, or if it is not a multiple of the vector size.
int64_t line_offset(const std::byte* first, int64_t stride) {
  const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(first) % kLineBytes);
  return stride % kLineBytes == 0 && offset % kVectorBytes == 0 ? offset : 0;
}

// True if the result is larger than the cache and aligned for stores that bypass the cache. Such
// stores do not read the destination first.
bool may_stream(const std::byte* to, int64_t stride, int64_t bytes) {
#ifdef __SSE2__
  return bytes >= kMinStreamedBytes && stride % kLineBytes == 0 &&
         reinterpret_cast<uintptr_t>(to) % kVectorBytes == 0;
#else
  (void)to, (void)stride, (void)bytes;
  return false;
#endif
}

}  // namespace

int64_t transpose_tile_size(size_t size) {
  return tile_of(size) == nullptr ? 0 : kVectorBytes / static_cast<int64_t>(size);
}

// Transposes block by block. If possible, a block covers entire cache lines of `from` and `to`, so
// that no line is evicted before all of it is used. Eviction is likely if strides are powers of
// two, because the cache then holds lines of only a few rows.
void transpose_tiles(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                     int64_t rows, int64_t columns, size_t size, int64_t matrix_elements) {
  const Tile tile = tile_of(size);
  const auto bytes = static_cast<int64_t>(size);
  const int64_t lanes = kVectorBytes / bytes;
  const int64_t line = kLineBytes / bytes;
  from_stride *= bytes;
  to_stride *= bytes;
  const int64_t row_line_offset = line_offset(to, to_stride) / bytes;
  const int64_t column_line_offset = line_offset(from, from_stride) / bytes;
  const bool stream = may_stream(to, to_stride, matrix_elements * bytes);
  const bool is_small = matrix_elements * bytes <= kMaxDirectBytes;
  Block block;
  const auto move = [&](int64_t row, int64_t column, int64_t height, int64_t width) {
    const std::byte* const source = from + column * from_stride + row * bytes;
    std::byte* const target = to + row * to_stride + column * bytes;
    const bool direct = is_small || (width < line && !stream);
    std::byte* const tiles = direct ? target : block.lines[0];
    const int64_t tiles_stride = direct ? to_stride : kLineBytes;
    for (int64_t c = 0; c < width; c += lanes) {
      for (int64_t r = 0; r < height; r += lanes) {
        tile(source + c * from_stride + r * bytes, from_stride,
             tiles + r * tiles_stride + c * bytes, tiles_stride);
      }
    }
    if (!direct) block.store(target, to_stride, height, width * bytes, stream);
  };
  for (int64_t start = -row_line_offset; start < columns; start += kDepth * line) {
    const int64_t end = std::min(columns, start + kDepth * line);
    for (int64_t row = -column_line_offset; row < rows; row += line) {
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
