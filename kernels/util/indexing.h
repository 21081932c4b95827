#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/util/box_loop.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// The elements of an Int or Long tensor.
class IndexReader {
 public:
  // Fails if the dtype is neither Int nor Long, or if the tensor has no memory.
  static std::optional<IndexReader> make(KernelContext& context, const Tensor& index);

  // Adds `size` to negative indices of at least -size. 0: changes no index.
  void wrap(int64_t size) { size_ = size; }

  int64_t operator[](int64_t offset) const {
    const int64_t index = read(offset);
    return index < 0 && index >= -size_ ? index + size_ : index;
  }

 private:
  int64_t read(int64_t offset) const {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): tensors without elements are not read
    return wide_ != nullptr ? wide_[offset] : narrow_[offset];
  }

  const int64_t* wide_ = nullptr;
  const int32_t* narrow_ = nullptr;
  int64_t size_ = 0;
};

// Fails unless 0 <= index < size.
[[nodiscard]] bool check_index(KernelContext& context, int64_t index, int64_t size);

// The layout of a tensor. A 0-d tensor counts as a 1-d tensor with one element.
Layout at_least_1d(const Tensor& tensor);

// Computes out[a..., i..., b...] = self[a..., index[i...], b...] along dimension `dim` of self, and
// resizes `out`. Fails unless 0 <= index < self.size(dim) for every index. If `wraps` is true,
// negative indices count from the end.
void take_along(KernelContext& context, const Tensor& self, size_t dim, const Tensor& index,
                const Layout& index_layout, Tensor& out, bool wraps = false);

// The elements that a list of indices, as in self[i0, None, i2], selects from a tensor. NumPy's
// rules apply: indices broadcast against each other, and a mask of rank r counts as r indices. If
// the indexed dimensions are adjacent, the broadcast shape replaces them in the result. Otherwise,
// the result begins with the broadcast shape.
class AdvancedIndex {
 public:
  // Uses only the sizes and strides of `self`. Fails the context if the dtype of an index is not
  // Long, Int, Bool or Byte, if an index is out of range, or if the indices do not broadcast.
  // Allocates temporary memory: at most one int64 for each element of the indices.
  AdvancedIndex(KernelContext& context, const Tensor& self, const OptionalTensorList& indices);
  AdvancedIndex(const AdvancedIndex&) = delete;  // an index is large
  AdvancedIndex& operator=(const AdvancedIndex&) = delete;

  std::span<const int64_t> result_sizes() const { return {sizes_.data(), rank_}; }

  // Calls run(self_offset, self_stride, result_offset, result_stride, count) until all selected
  // elements are covered. `result` must have the sizes result_sizes().
  template <class Run>
  void for_each_run(const Layout& result, Run&& run) const {
    Layout picks = result;
    Layout block = result;
    while (picks.rank > position_ + shape_.rank) picks.remove(picks.rank - 1);
    for (size_t i = 0; i < position_; ++i) picks.remove(0);
    for (size_t i = 0; i < shape_.rank; ++i) block.remove(position_);
    const BoxLoop<2> loop(block_.size_span(), {block.strides.data(), block_.strides.data()});
    const int64_t count = block_.numel() == 0 ? 0 : shape_.numel();
    for (int64_t i = 0; i < count; ++i) {
      int64_t from = 0;
      for (size_t k = 0; k < num_terms_; ++k)
        from += terms_[k].offsets[terms_[k].layout.offset_of(i)];
      loop.run({picks.offset_of(i), from}, [&](const auto& offsets, int64_t length) {
        run(offsets[1], loop.row_stride(1), offsets[0], loop.row_stride(0), length);
      });
    }
  }

 private:
  // The offsets of one index or mask. A selected part of `self` begins at the sum of one offset
  // from each term.
  struct Term {
    const int64_t* offsets;
    Layout layout;  // layout of `offsets`, broadcast to shape_
  };

  bool add_mask(KernelContext& context, const Tensor& self, const Tensor& mask, size_t dim);
  bool add_index(KernelContext& context, const Tensor& self, const Tensor& index, size_t dim);
  bool broadcast(KernelContext& context);

  std::array<Term, kMaxRank> terms_;
  size_t num_terms_ = 0;
  Layout shape_;         // broadcast shape of the indices
  Layout block_;         // dimensions of self without an index
  size_t position_ = 0;  // first dimension of shape_ in the result
  std::array<int64_t, kMaxLoopRank> sizes_;
  size_t rank_ = 0;
};

}  // namespace vitrine
