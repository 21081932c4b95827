#include "kernels/util/indexing.h"

#include <algorithm>
#include <cstring>

#include "kernels/util/checks.h"
#include "runtime/core/checked_math.h"

namespace vitrine {

std::optional<IndexReader> IndexReader::make(KernelContext& context, const Tensor& index) {
  if (!check_data(context, {&index})) return std::nullopt;
  IndexReader reader;
  if (index.dtype() == ScalarType::kLong) {
    reader.wide_ = index.unchecked_data<int64_t>();
  } else if (index.dtype() == ScalarType::kInt) {
    reader.narrow_ = index.unchecked_data<int32_t>();
  } else {
    context.fail(ErrorCode::kInvalidArgument, "indices have dtype %s, expected i32 or i64",
                 scalar_type_name(index.dtype()));
    return std::nullopt;
  }
  return reader;
}

bool check_index(KernelContext& context, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return true;
  context.fail(ErrorCode::kInvalidArgument, "index %lld is out of range for %lld elements",
               static_cast<long long>(index), static_cast<long long>(size));
  return false;
}

Layout at_least_1d(const Tensor& tensor) {
  Layout layout(tensor);
  if (layout.rank == 0) layout.insert(0, 1, 1);
  return layout;
}

namespace {

// Copies the block self[i, ...] for every element i of the index. `picks` has the sizes of the
// index. `self`, the index and `out` are row-major.
void take_blocks(KernelContext& context, const Tensor& self, const Tensor& index,
                 const IndexReader& reader, const Layout& picks, Tensor& out) {
  Layout result = picks;
  size_t size = self.element_size();
  for (size_t i = 1; i < self.rank(); ++i) {
    result.insert(result.rank, self.size(i), 0);
    size *= static_cast<size_t>(self.size(i));
  }
  if (!resize_to(context, out, result.size_span()) || !check_data(context, {&self, &out}) ||
      !check_no_overlap(context, out, {&index})) {
    return;
  }
  auto* to = out.unchecked_mutable_data<std::byte>();
  const int64_t count = picks.numel();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t picked = reader[i];
    if (!check_index(context, picked, self.size(0))) return;
    if (size == 0) continue;
    std::memmove(to, self.unchecked_data<std::byte>() + static_cast<size_t>(picked) * size, size);
    to += size;
  }
}

}  // namespace

void take_along(KernelContext& context, const Tensor& self, size_t dim, const Tensor& index,
                const Layout& index_layout, Tensor& out, bool wraps) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  std::optional<IndexReader> reader = IndexReader::make(context, index);
  if (!reader) return;
  if (wraps) reader->wrap(size_at(self, dim));
  if (dim == 0 && self.rank() != 0 && self.is_contiguous() && index.is_contiguous() &&
      out.is_contiguous()) {
    return take_blocks(context, self, index, *reader, index_layout, out);
  }
  Layout block = at_least_1d(self);
  const int64_t size = block.sizes[dim];
  const int64_t stride = block.strides[dim];
  block.remove(dim);
  const Layout& picks = index_layout;
  Layout result = block;
  for (size_t i = 0; i < picks.rank; ++i) result.insert(dim + i, picks.sizes[i], 0);
  if (!resize_to(context, out, result.size_span()) || !check_data(context, {&self, &out}) ||
      !check_no_overlap(context, out, {&index})) {
    return;
  }
  Layout out_picks(out);
  Layout out_block(out);
  while (out_picks.rank > dim + picks.rank) out_picks.remove(out_picks.rank - 1);
  for (size_t i = 0; i < dim; ++i) out_picks.remove(0);
  for (size_t i = 0; i < picks.rank; ++i) out_block.remove(dim);

  const std::optional<ElementMover> mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  const BoxLoop<2> loop(block.size_span(), {out_block.strides.data(), block.strides.data()});
  const BoxLoop<2> pick_loop(picks.size_span(), {out_picks.strides.data(), picks.strides.data()});
  pick_loop.run({0, picks.offset}, [&](const auto& first, int64_t length) {
    for (int64_t i = 0; i < length && !context.failed(); ++i) {
      const int64_t picked = (*reader)[first[1] + i * pick_loop.row_stride(1)];
      if (!check_index(context, picked, size)) return;
      loop.run({first[0] + i * pick_loop.row_stride(0), picked * stride},
               [&](const auto& offsets, int64_t count) {
                 mover->move(self.raw_data(), offsets[1], loop.row_stride(1),
                             out.mutable_raw_data(), offsets[0], loop.row_stride(0), count);
               });
    }
  });
}

AdvancedIndex::AdvancedIndex(KernelContext& context, const Tensor& self,
                             const OptionalTensorList& indices) {
  const Layout layout(self);
  uint32_t indexed = 0;
  size_t dim = 0;
  for (const Tensor* tensor : indices.tensors) {
    const bool is_mask = tensor != nullptr && (tensor->dtype() == ScalarType::kBool ||
                                               tensor->dtype() == ScalarType::kByte);
    const size_t spanned = is_mask ? tensor->rank() : 1;
    if (spanned == 0 || dim + spanned > self.rank()) {
      context.fail(ErrorCode::kInvalidArgument,
                   "there are more indices than dimensions of self (%zu), or one is a 0-d mask",
                   self.rank());
      return;
    }
    if (tensor != nullptr) {
      if (!(is_mask ? add_mask(context, self, *tensor, dim)
                    : add_index(context, self, *tensor, dim))) {
        return;
      }
      indexed |= ((1u << spanned) - 1u) << dim;
    }
    dim += spanned;
  }
  if (!broadcast(context)) return;

  size_t first = self.rank();
  size_t last = 0;
  size_t count = 0;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (((indexed >> i) & 1u) == 0) {
      block_.insert(block_.rank, layout.sizes[i], layout.strides[i]);
      continue;
    }
    first = std::min(first, i);
    last = i;
    ++count;
  }
  const bool neighbors = count > 0 && last - first + 1 == count;
  position_ = neighbors ? first : 0;
  if (block_.rank + shape_.rank > kMaxRank) {
    context.fail(ErrorCode::kInvalidArgument,
                 "the result of indexing exceeds the maximum rank, %zu", kMaxRank);
    return;
  }
  for (size_t i = 0; i <= block_.rank; ++i) {
    if (i == position_) {
      for (const int64_t size : shape_.size_span()) sizes_[rank_++] = size;
    }
    if (i < block_.rank) sizes_[rank_++] = block_.sizes[i];
  }
}

bool AdvancedIndex::add_index(KernelContext& context, const Tensor& self, const Tensor& index,
                              size_t dim) {
  std::optional<IndexReader> reader = IndexReader::make(context, index);
  if (!reader) return false;
  const int64_t size = self.size(dim);
  reader->wrap(size);
  const int64_t stride = Layout(self).strides[dim];
  const int64_t count = index.numel();
  // Allocates at least one element, because an empty span means that memory ran out.
  const std::span<int64_t> offsets =
      context.allocate_temp_array<int64_t>(static_cast<size_t>(std::max<int64_t>(count, 1)));
  if (offsets.empty()) return false;
  for (int64_t i = 0; i < count; ++i) {  // memory order, which Layout(index) below describes
    const int64_t at = (*reader)[i];
    if (!check_index(context, at, size)) return false;
    offsets[static_cast<size_t>(i)] = at * stride;
  }
  terms_[num_terms_++] = {offsets.data(), Layout(index)};
  return true;
}

bool AdvancedIndex::add_mask(KernelContext& context, const Tensor& self, const Tensor& mask,
                             size_t dim) {
  if (!check_sizes(context, mask, self.sizes().subspan(dim, mask.rank()), "mask") ||
      !check_data(context, {&mask})) {
    return false;
  }
  const uint8_t* bytes = mask.unchecked_data<uint8_t>();
  const int64_t count = mask.numel() - std::count(bytes, bytes + mask.numel(), uint8_t{0});
  const std::span<int64_t> offsets =
      context.allocate_temp_array<int64_t>(static_cast<size_t>(std::max<int64_t>(count, 1)));
  if (offsets.empty()) return false;
  Layout masked;
  for (size_t i = 0; i < mask.rank(); ++i) {
    masked.insert(i, mask.size(i), self.strides()[dim + i]);
  }
  const Layout layout(mask);
  size_t found = 0;
  const BoxLoop<2> loop(layout.size_span(), {layout.strides.data(), masked.strides.data()},
                        LoopOrder::kRowMajor);
  loop.run({0, 0}, [&](const auto& first, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      if (bytes[first[0] + i * loop.row_stride(0)] != 0) {
        offsets[found++] = first[1] + i * loop.row_stride(1);
      }
    }
  });
  terms_[num_terms_++] = {offsets.data(), Layout(std::array<int64_t, 1>{count})};
  return true;
}

bool AdvancedIndex::broadcast(KernelContext& context) {
  std::array<int64_t, kMaxRank> sizes;
  sizes.fill(1);
  size_t rank = 0;
  for (size_t k = 0; k < num_terms_; ++k) rank = std::max(rank, terms_[k].layout.rank);
  for (size_t k = 0; k < num_terms_; ++k) {
    const Layout& layout = terms_[k].layout;
    for (size_t i = 0; i < layout.rank; ++i) {
      int64_t& size = sizes[rank - layout.rank + i];
      if (size == 1) size = layout.sizes[i];
    }
  }
  shape_ = Layout(std::span<const int64_t>(sizes.data(), rank));
  int64_t numel = 1;
  for (size_t i = 0; i < rank; ++i) {
    // The broadcast shape can have far more elements than the indices.
    if (mul_overflows(numel, sizes[i], &numel) || numel > INT32_MAX) {
      context.fail(ErrorCode::kInvalidArgument,
                   "the indices broadcast to more than 2^31 - 1 elements");
      return false;
    }
  }
  for (size_t k = 0; k < num_terms_; ++k) {
    if (!terms_[k].layout.broadcast_to(shape_.size_span())) {
      context.fail(ErrorCode::kInvalidArgument, "the indices do not broadcast together");
      return false;
    }
  }
  return true;
}

}  // namespace vitrine
