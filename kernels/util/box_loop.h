// BoxLoop walks the elements of a shape row by row in N tensors at once, each with its own strides.
//
// The loop drops dimensions of size one, merges dimensions that are contiguous in every tensor, and
// may reorder dimensions so that operand 0 is written front to back. A copy between dense tensors
// of the same dim order is thus a single row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "runtime/core/checked_math.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Maximum rank of a loop. `repeat` splits each dimension of a tensor into two.
inline constexpr size_t kMaxLoopRank = 2 * kMaxRank;

enum class LoopOrder : uint8_t {
  kFree,      // decreasing strides of operand 0
  kRowMajor,  // last dimension fastest; later elements may overwrite earlier elements
};

// Sizes are >= 0. Strides are in elements and may be zero or negative. A loop does not allocate,
// and can run many times at different offsets.
template <size_t N>
class BoxLoop {
 public:
  using Offsets = std::array<int64_t, N>;

  // Each array in `strides` has as many elements as `sizes`, at most kMaxLoopRank.
  BoxLoop(std::span<const int64_t> sizes, const std::array<const int64_t*, N>& strides,
          LoopOrder order = LoopOrder::kFree) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) empty_ = true;
      if (sizes[i] == 1) continue;
      sizes_[rank_] = sizes[i];
      for (size_t k = 0; k < N; ++k) strides_[rank_][k] = strides[k][i];
      ++rank_;
    }
    if (empty_) return;
    if (order == LoopOrder::kFree) sort();
    merge();
    if (rank_ == 0) {
      sizes_[0] = 1;
      strides_[0].fill(0);
      rank_ = 1;
    }
  }

  int64_t row_stride(size_t operand) const { return empty_ ? 0 : strides_[rank_ - 1][operand]; }

  // Calls row(const Offsets& first, int64_t count) for each row. Operand k starts at offset
  // offsets[k], and its row at offset first[k].
  template <class Row>
  void run(Offsets offsets, Row&& row) const {
    run_rows(offsets, 0, rows(), std::forward<Row>(row));
  }

  int64_t rows() const {
    if (empty_) return 0;
    int64_t count = 1;
    for (size_t i = 0; i + 1 < rank_; ++i) count *= sizes_[i];
    return count;
  }
  int64_t row_length() const { return empty_ ? 0 : sizes_[rank_ - 1]; }

  // Runs only the rows [begin, end).
  template <class Row>
  void run_rows(Offsets offsets, int64_t begin, int64_t end, Row&& row) const {
    if (begin >= end) return;
    if (rank_ <= 1) {
      row(std::as_const(offsets), sizes_[0]);
      return;
    }
    const size_t outer = rank_ - 1;
    std::array<int64_t, kMaxLoopRank> index;
    int64_t remaining = begin;
    for (size_t i = outer; i-- > 0;) {
      index[i] = remaining % sizes_[i];
      remaining /= sizes_[i];
      for (size_t k = 0; k < N; ++k) offsets[k] += index[i] * strides_[i][k];
    }
    for (int64_t done = begin; done < end; ++done) {
      row(std::as_const(offsets), sizes_[outer]);
      size_t dim = outer;
      while (true) {
        if (dim == 0) return;
        --dim;
        for (size_t k = 0; k < N; ++k) offsets[k] += strides_[dim][k];
        if (++index[dim] < sizes_[dim]) break;
        for (size_t k = 0; k < N; ++k) offsets[k] -= strides_[dim][k] * sizes_[dim];
        index[dim] = 0;
      }
    }
  }

  // Returns a loop over planes. The rows of a plane are neighbors along one dimension, if possible
  // a dimension in which the last operand has stride 1. In the returned loop, row_length() is the
  // number of rows in a plane, and row_stride(k) is the stride between these rows in operand k.
  BoxLoop planes() const {
    BoxLoop result = *this;
    if (rank_ < 2) {
      result.sizes_[0] = 1;
      result.strides_[0].fill(0);
      return result;
    }
    const size_t last = --result.rank_ - 1;
    for (size_t i = 0; i < last; ++i) {
      if (strides_[i][N - 1] != 1) continue;
      std::swap(result.strides_[i], result.strides_[last]);
      std::swap(result.sizes_[i], result.sizes_[last]);
    }
    return result;
  }

 private:
  void sort() {
    for (size_t i = 1; i < rank_; ++i) {
      for (size_t j = i; j > 0 && std::abs(strides_[j - 1][0]) < std::abs(strides_[j][0]); --j) {
        std::swap(strides_[j - 1], strides_[j]);
        std::swap(sizes_[j - 1], sizes_[j]);
      }
    }
  }

  void merge() {
    size_t kept = 0;
    for (size_t i = 1; i < rank_; ++i) {
      bool is_contiguous = true;
      for (size_t k = 0; k < N; ++k) {
        is_contiguous = is_contiguous && strides_[kept][k] == strides_[i][k] * sizes_[i];
      }
      int64_t merged = 0;
      if (is_contiguous && !mul_overflows(sizes_[kept], sizes_[i], &merged)) {
        sizes_[kept] = merged;
      } else {
        ++kept;
        sizes_[kept] = sizes_[i];
      }
      strides_[kept] = strides_[i];
    }
    if (rank_ > 0) rank_ = kept + 1;
  }

  size_t rank_ = 0;
  bool empty_ = false;
  std::array<int64_t, kMaxLoopRank> sizes_;
  std::array<Offsets, kMaxLoopRank> strides_;
};

}  // namespace vitrine
