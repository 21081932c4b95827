// A Layout describes where the elements of a view are in a tensor's memory.
//
// Operators such as permute, slice and expand describe their result as a Layout, and then copy the
// elements (element_copy.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/util/box_loop.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Offsets and strides are in elements. Nothing is checked: the caller must stay inside the tensor's
// memory.
struct Layout {
  Layout() = default;
  // Copies only the first `rank` sizes and strides, because most ranks are small.
  Layout(const Layout& other) : rank(other.rank), offset(other.offset) { copy_dims(other); }
  Layout& operator=(const Layout& other) {
    rank = other.rank;
    offset = other.offset;
    copy_dims(other);
    return *this;
  }
  // The strides are zero if the tensor has no elements.
  explicit Layout(const Tensor& tensor);
  // A dense row-major layout.
  explicit Layout(std::span<const int64_t> row_major_sizes);

  std::span<const int64_t> size_span() const { return {sizes.data(), rank}; }
  int64_t numel() const;
  // Offset of the element with row-major index `index`.
  int64_t offset_of(int64_t index) const;

  // Keeps the `length` elements start, start + step, ... of a dimension. `step` may be negative.
  void narrow(size_t dim, int64_t start, int64_t length, int64_t step = 1);
  // Keeps one index of a dimension and removes the dimension.
  void select(size_t dim, int64_t index);
  void remove(size_t dim) { select(dim, 0); }
  void insert(size_t dim, int64_t size, int64_t stride);
  // Splits a dimension into two. The second dimension has size `inner`, which must divide the old
  // size.
  void split(size_t dim, int64_t inner);
  // The new dimension i is the old dimension order[i].
  template <class Index>
  void permute(std::span<const Index> order) {
    const Layout old = *this;
    for (size_t i = 0; i < rank; ++i) {
      sizes[i] = old.sizes[static_cast<size_t>(order[i])];
      strides[i] = old.strides[static_cast<size_t>(order[i])];
    }
  }
  void swap(size_t a, size_t b);
  // Broadcasts to `target` as NumPy does. On failure, returns false without changing anything.
  [[nodiscard]] bool broadcast_to(std::span<const int64_t> target);

  size_t rank = 0;
  int64_t offset = 0;
  std::array<int64_t, kMaxLoopRank> sizes;
  std::array<int64_t, kMaxLoopRank> strides;

 private:
  void copy_dims(const Layout& other) {
    for (size_t i = 0; i < other.rank; ++i) {
      sizes[i] = other.sizes[i];
      strides[i] = other.strides[i];
    }
  }
};

// Fails if a size exceeds INT32_MAX or there are more than kMaxRank sizes.
[[nodiscard]] bool resize_to(KernelContext& context, Tensor& out, std::span<const int64_t> sizes);

}  // namespace vitrine
