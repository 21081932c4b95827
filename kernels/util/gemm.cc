#include "kernels/util/gemm.h"

#include <algorithm>

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
            multiply_tile(row_panel, column_panels + c * kGemmBlockDepth, depth_count,
                          sums + r * kColumns + c, kColumns);
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
