#include "kernels/util/gemm.h"

#include <algorithm>
#include <type_traits>

namespace vitrine {

namespace {

// Adds the product of a row panel and a column panel to a full tile, sums[r * stride + c].
template <class Sum>
void multiply_tile(const Sum* rows, const Sum* columns, int64_t depth, Sum* sums, int64_t stride) {
  Sum tile[kGemmTileRows][kGemmTileColumns];
  for (int64_t r = 0; r < kGemmTileRows; ++r) {
    for (int64_t c = 0; c < kGemmTileColumns; ++c) tile[r][c] = sums[r * stride + c];
  }
  for (int64_t d = 0; d < depth; ++d) {
    for (int64_t r = 0; r < kGemmTileRows; ++r) {
      const Sum factor = rows[d * kGemmTileRows + r];
      for (int64_t c = 0; c < kGemmTileColumns; ++c) {
        tile[r][c] += factor * columns[d * kGemmTileColumns + c];
      }
    }
  }
  for (int64_t r = 0; r < kGemmTileRows; ++r) {
    for (int64_t c = 0; c < kGemmTileColumns; ++c) sums[r * stride + c] = tile[r][c];
  }
}

// Like multiply_tile(), but for `row_count` rows and `column_count` columns of the tile.
template <class Sum>
void multiply_partial_tile(const Sum* rows, const Sum* columns, int64_t depth, int64_t row_count,
                           int64_t column_count, Sum* sums, int64_t stride) {
  for (int64_t r = 0; r < row_count; ++r) {
    for (int64_t c = 0; c < column_count; ++c) {
      Sum sum = sums[r * stride + c];
      for (int64_t d = 0; d < depth; ++d) {
        sum += rows[d * kGemmTileRows + r] * columns[d * kGemmTileColumns + c];
      }
      sums[r * stride + c] = sum;
    }
  }
}

}  // namespace

template <class Sum>
void gemm(int64_t rows, int64_t columns, int64_t depth, GemmOperands<Sum>& operands) {
  constexpr int64_t kColumns = kGemmBlockColumns<Sum>;
  alignas(64) Sum sums[kGemmBlockRows * kColumns];
  alignas(64) Sum row_panel[kGemmBlockDepth * kGemmTileRows];
  alignas(64) Sum column_panels[kGemmBlockDepth * kColumns];
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t column_count = std::min(kColumns, columns - column);
    for (int64_t row = 0; row < rows; row += kGemmBlockRows) {
      const int64_t row_count = std::min(kGemmBlockRows, rows - row);
      const int64_t tiles = (row_count + kGemmTileRows - 1) / kGemmTileRows;
      std::fill_n(sums, tiles * kGemmTileRows * kColumns, Sum(0));
      for (int64_t start = 0; start < depth; start += kGemmBlockDepth) {
        const int64_t depth_count = std::min(kGemmBlockDepth, depth - start);
        for (int64_t c = 0; c < column_count; c += kGemmTileColumns) {
          const int64_t count = std::min(kGemmTileColumns, column_count - c);
          Sum* panel = column_panels + c * kGemmBlockDepth;
          if (count < kGemmTileColumns) std::fill_n(panel, depth_count * kGemmTileColumns, Sum(0));
          operands.load_columns(column + c, count, start, depth_count, panel);
        }
        for (int64_t r = 0; r < row_count; r += kGemmTileRows) {
          const int64_t count = std::min(kGemmTileRows, row_count - r);
          if (count < kGemmTileRows) std::fill_n(row_panel, depth_count * kGemmTileRows, Sum(0));
          operands.load_rows(row + r, count, start, depth_count, row_panel);
          for (int64_t c = 0; c < column_count; c += kGemmTileColumns) {
            const Sum* panel = column_panels + c * kGemmBlockDepth;
            Sum* const tile = sums + r * kColumns + c;
            if constexpr (std::is_integral_v<Sum>) {
              if (count < kGemmTileRows || column_count - c < kGemmTileColumns) {
                multiply_partial_tile(row_panel, panel, depth_count, count,
                                      std::min(kGemmTileColumns, column_count - c), tile, kColumns);
                continue;
              }
            }
            multiply_tile(row_panel, panel, depth_count, tile, kColumns);
          }
        }
      }
      for (int64_t r = 0; r < row_count; ++r) {
        operands.store(row + r, column, column_count, sums + r * kColumns);
      }
    }
  }
}

template void gemm(int64_t, int64_t, int64_t, GemmOperands<float>&);
template void gemm(int64_t, int64_t, int64_t, GemmOperands<double>&);
template void gemm(int64_t, int64_t, int64_t, GemmOperands<uint64_t>&);

}  // namespace vitrine
