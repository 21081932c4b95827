// The positions of a view's elements in a tensor's memory; data movement is expressed with them.
//
// permute, slice, flip, expand, ... each turn the layout of their input into that of their result;
// one routine (element_copy.h) then copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/util/box_loop.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// All numbers count elements. Who changes a layout keeps it inside the tensor's memory: nothing is
// checked here.
struct Layout {
  Layout() = default;
  // The tensor's layout; strides of a tensor without elements are zero.
  explicit Layout(const Tensor& tensor);
  // Dense and row-major, of other sizes.
  explicit Layout(std::span<const int64_t> row_major_sizes);

  std::span<const int64_t> size_span() const { return {sizes.data(), rank}; }
  int64_t numel() const;
  // The offset of the element with this row-major number.
  int64_t offset_of(int64_t index) const;

  // `step` may be negative: then `start` is the last element's place.
  void narrow(size_t dim, int64_t start, int64_t length, int64_t step = 1);
  // Drops the dimension.
  void select(size_t dim, int64_t index);
  void remove(size_t dim) { select(dim, 0); }
  void insert(size_t dim, int64_t size, int64_t stride);
  // One dimension becomes two; `inner` divides its size.
  void split(size_t dim, int64_t inner);
  // New dimension i is the old order[i].
  template <class Index>
  void permute(std::span<const Index> order) {
    const Layout old = *this;
    for (size_t i = 0; i < rank; ++i) {
      sizes[i] = old.sizes[static_cast<size_t>(order[i])];
      strides[i] = old.strides[static_cast<size_t>(order[i])];
    }
  }
  void swap(size_t a, size_t b);
  // Numpy broadcast to `target`, right-aligned. False (and no change) if the sizes do not fit.
  [[nodiscard]] bool broadcast_to(std::span<const int64_t> target);

  size_t rank = 0;
  int64_t offset = 0;
  std::array<int64_t, kMaxLoopRank> sizes;
  std::array<int64_t, kMaxLoopRank> strides;
};

// Resizes `out` to the layout's sizes; fails if one of them is beyond int32 or the rank too high.
[[nodiscard]] bool resize_to(KernelContext& context, Tensor& out, std::span<const int64_t> sizes);

}  // namespace vitrine
