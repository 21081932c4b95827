#include "kernels/util/layout.h"

#include <algorithm>
#include <utility>

#include "kernels/util/checks.h"

namespace vitrine {

Layout::Layout(const Tensor& tensor) : rank(tensor.rank()) {
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = tensor.size(i);
    // A tensor without elements may have no memory. Zero strides keep every offset at zero.
    strides[i] = tensor.numel() == 0 ? 0 : tensor.strides()[i];
  }
}

Layout::Layout(std::span<const int64_t> row_major_sizes) : rank(row_major_sizes.size()) {
  uint64_t stride = 1;  // unsigned: if a size is zero, the unused product may wrap
  for (size_t i = rank; i-- > 0;) {
    sizes[i] = row_major_sizes[i];
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(sizes[i]);
  }
}

int64_t Layout::numel() const {
  uint64_t numel = 1;  // unsigned: the product may wrap before a zero size makes it 0
  for (const int64_t size : size_span()) numel *= static_cast<uint64_t>(size);
  return static_cast<int64_t>(numel);
}

int64_t Layout::offset_of(int64_t index) const {
  int64_t result = offset;
  for (size_t i = rank; i-- > 1;) {
    result += index % sizes[i] * strides[i];
    index /= sizes[i];
  }
  return rank == 0 ? result : result + index * strides[0];
}

void Layout::narrow(size_t dim, int64_t start, int64_t length, int64_t step) {
  if (length > 0) offset += start * strides[dim];
  sizes[dim] = length;
  strides[dim] = length > 1 ? strides[dim] * step : 0;
}

void Layout::select(size_t dim, int64_t index) {
  offset += index * strides[dim];
  --rank;
  for (size_t i = dim; i < rank; ++i) {
    sizes[i] = sizes[i + 1];
    strides[i] = strides[i + 1];
  }
}

void Layout::insert(size_t dim, int64_t size, int64_t stride) {
  for (size_t i = rank; i > dim; --i) {
    sizes[i] = sizes[i - 1];
    strides[i] = strides[i - 1];
  }
  ++rank;
  sizes[dim] = size;
  strides[dim] = stride;
}

void Layout::split(size_t dim, int64_t inner) {
  insert(dim + 1, inner, strides[dim]);
  sizes[dim] /= inner;
  strides[dim] *= inner;
}

void Layout::swap(size_t a, size_t b) {
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
}

bool Layout::broadcast_to(std::span<const int64_t> target) {
  if (target.size() < rank || target.size() > kMaxLoopRank) return false;
  const size_t added = target.size() - rank;
  for (size_t i = 0; i < rank; ++i) {
    if (sizes[i] != target[added + i] && sizes[i] != 1) return false;
  }
  rank = target.size();
  for (size_t i = rank; i-- > 0;) {
    strides[i] = i >= added && sizes[i - added] == target[i] ? strides[i - added] : 0;
    sizes[i] = target[i];
  }
  return true;
}

bool resize_to(KernelContext& context, Tensor& out, std::span<const int64_t> sizes) {
  if (std::ranges::equal(sizes, out.sizes())) return true;
  std::array<int32_t, kMaxRank> storage;
  const std::optional<std::span<const int32_t>> checked = read_sizes(context, sizes, storage);
  return checked && context.resize(out, *checked);
}

}  // namespace vitrine
