#include "kernels/util/transpose.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/optimized/simd/transpose.h"

namespace vitrine {
namespace {

// Sizes, strides and offsets that may or may not be multiples of a cache line.
struct TransposeCase {
  int64_t rows;
  int64_t columns;
  int64_t from_padding;  // elements by which the stride exceeds the size
  int64_t to_padding;
  size_t offset;  // offset of both matrices in bytes
};

template <class Element>
void expect_transposed(const TransposeCase& c) {
  const int64_t from_stride = c.rows + c.from_padding;
  const int64_t to_stride = c.columns + c.to_padding;
  std::vector<Element> from(static_cast<size_t>(c.columns * from_stride) + c.offset);
  std::vector<Element> to(static_cast<size_t>(c.rows * to_stride) + c.offset, Element{99});
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<Element>(i * 7 + i / 256);
  const size_t start = c.offset / sizeof(Element);
  transpose_tiles(reinterpret_cast<const std::byte*>(from.data() + start), from_stride,
                  reinterpret_cast<std::byte*>(to.data() + start), to_stride, c.rows, c.columns,
                  sizeof(Element), c.rows * c.columns);
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t column = 0; column < to_stride; ++column) {
      const auto target = start + static_cast<size_t>(row * to_stride + column);
      const auto source = start + static_cast<size_t>(column * from_stride + row);
      if (column < c.columns) {
        ASSERT_EQ(to[target], from[source]) << row << ", " << column;
      } else if (row + 1 < c.rows) {
        ASSERT_EQ(to[target], Element{99}) << "past the end of row " << row;
      }
    }
  }
}

TEST(Transpose, TransposesTilesAtAnyAlignment) {
  for (const size_t offset : {size_t{0}, size_t{16}, size_t{40}, size_t{48}}) {
    for (const TransposeCase& c :
         {TransposeCase{16, 16, 0, 0, offset}, TransposeCase{64, 128, 0, 0, offset},
          TransposeCase{80, 336, 16, 48, offset}, TransposeCase{128, 64, 5, 3, offset}}) {
      expect_transposed<uint8_t>(c);
      expect_transposed<uint16_t>(c);
      expect_transposed<uint32_t>(c);
    }
  }
}

TEST(Transpose, TransposesMatrixLargerThanCache) {
  expect_transposed<uint32_t>({2048, 2064, 0, 0, 16});
  expect_transposed<uint32_t>({2052, 2048, 0, 0, 16});
}

TEST(Transpose, ReturnsTileSizeForSmallElements) {
  EXPECT_EQ(transpose_tile_size(1), 16);
  EXPECT_EQ(transpose_tile_size(2), 8);
  EXPECT_EQ(transpose_tile_size(4), 4);
  for (const size_t size : {0, 3, 8, 16}) EXPECT_EQ(transpose_tile_size(size), 0) << size;
}

// The matrices end at the end of their memory, so that a sanitizer finds accesses past the end.
TEST(Transpose, TransposesFloatsOfAnySize) {
  for (const int64_t rows : {1, 4, 15, 16, 33}) {
    for (const int64_t columns : {1, 2, 3, 4, 8, 18, 32}) {
      for (const int64_t gap : {0, 5}) {
        const int64_t from_stride = rows + gap;
        const int64_t to_stride = columns + gap;
        std::vector<float> from(static_cast<size_t>((columns - 1) * from_stride + rows));
        for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
        std::vector<float> to(static_cast<size_t>((rows - 1) * to_stride + columns), -1.0F);
        optimized::simd::transpose(from.data(), from_stride, to.data(), to_stride, rows, columns);
        for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
          const int64_t row = i / to_stride;
          const int64_t column = i % to_stride;
          const int64_t expected = column < columns ? column * from_stride + row : -1;
          ASSERT_EQ(to[static_cast<size_t>(i)], static_cast<float>(expected))
              << rows << " x " << columns << ", element " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitrine
