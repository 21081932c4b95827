#include "runtime/core/tensor.h"

#include <algorithm>
#include <cstdio>

#include "runtime/core/checked_math.h"

namespace vitrine {

Result<int64_t> checked_numel(std::span<const int32_t> sizes) {
  int64_t numel = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      return Error::make(ErrorCode::kInvalidArgument, "size %d of dimension %zu is negative",
                         sizes[i], i);
    }
    if (mul_overflows(numel, sizes[i], &numel)) {
      return Error::make(ErrorCode::kInvalidArgument, "the product of the sizes overflows");
    }
  }
  // Bytes must be countable too; 16 is the largest element.
  if (numel > INT64_MAX / 16) {
    return Error::make(ErrorCode::kInvalidArgument, "the product of the sizes overflows");
  }
  return numel;
}

bool is_permutation(std::span<const uint8_t> dim_order) {
  uint32_t seen = 0;
  for (const uint8_t dim : dim_order) {
    if (dim >= dim_order.size() || dim >= kMaxRank || ((seen >> dim) & 1u) != 0) return false;
    seen |= 1u << dim;
  }
  return true;
}

void strides_from_dim_order(std::span<const int32_t> sizes, std::span<const uint8_t> dim_order,
                            std::span<int64_t> strides) {
  uint64_t stride = 1;  // unsigned: with a zero size elsewhere the product may wrap, unused
  for (size_t i = sizes.size(); i-- > 0;) {
    const uint8_t dim = dim_order[i];
    strides[dim] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max(sizes[dim], 1));
  }
}

Tensor::Tensor(ScalarType dtype, std::span<int32_t> sizes, std::span<const uint8_t> dim_order,
               std::span<int64_t> strides, void* data, ShapeDynamism dynamism)
    : data_(data),
      sizes_(sizes.data()),
      dim_order_(dim_order.data()),
      strides_(strides.data()),
      numel_(1),
      rank_(static_cast<uint8_t>(sizes.size())),
      element_size_(static_cast<uint8_t>(vitrine::element_size(dtype))),
      dtype_(dtype),
      dynamism_(dynamism) {
  for (size_t i = 0; i < rank_; ++i) {
    numel_ *= sizes[i];
    contiguous_ = contiguous_ && dim_order[i] == i;
  }
  max_numel_ = numel_;
  strides_from_dim_order(sizes, dim_order, strides);
}

bool Tensor::is_channels_last() const {
  constexpr uint8_t kOrder4[] = {0, 2, 3, 1};
  constexpr uint8_t kOrder5[] = {0, 2, 3, 4, 1};
  return (rank_ == 4 && std::equal(dim_order_, dim_order_ + 4, kOrder4)) ||
         (rank_ == 5 && std::equal(dim_order_, dim_order_ + 5, kOrder5));
}

bool Tensor::same_sizes(const Tensor& other) const {
  return rank_ == other.rank_ && std::equal(sizes_, sizes_ + rank_, other.sizes_);
}

bool Tensor::same_dim_order(const Tensor& other) const {
  if (contiguous_ && other.contiguous_) return rank_ == other.rank_;
  return rank_ == other.rank_ && std::equal(dim_order_, dim_order_ + rank_, other.dim_order_);
}

void Tensor::alias(const Tensor& other) {
  data_ = other.data_;
  read_only_ = other.read_only_;
  if (element_size_ != 0) {
    max_numel_ = static_cast<int64_t>(other.max_nbytes() / element_size_);
  }
}

Error Tensor::resize(std::span<const int32_t> sizes) {
  if (sizes.size() == rank_ && std::equal(sizes.begin(), sizes.end(), sizes_)) return Error();
  if (sizes.size() != rank_) {
    return Error::make(ErrorCode::kInvalidArgument, "cannot resize a tensor of rank %d to rank %zu",
                       rank_, sizes.size());
  }
  VITRINE_ASSIGN_OR_RETURN(const int64_t numel, checked_numel(sizes));
  if (dynamism_ == ShapeDynamism::kStatic) {
    char text[128];
    describe(*this, text, sizeof text);
    return Error::make(ErrorCode::kNotSupported,
                       "%s has a static shape and cannot be resized to %lld elements", text,
                       static_cast<long long>(numel));
  }
  if (numel > max_numel_) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "%lld elements exceed the bound of %lld elements of this dynamic tensor",
                       static_cast<long long>(numel), static_cast<long long>(max_numel_));
  }
  std::copy(sizes.begin(), sizes.end(), sizes_);
  numel_ = numel;
  strides_from_dim_order({sizes_, rank_}, {dim_order_, rank_}, {strides_, rank_});
  return Error();
}

void describe(const Tensor& tensor, char* text, size_t size) {
  int length = std::snprintf(text, size, "%s[", scalar_type_name(tensor.dtype()));
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (length < 0 || static_cast<size_t>(length) >= size) break;
    length += std::snprintf(text + length, size - static_cast<size_t>(length), "%s%d",
                            i == 0 ? "" : ",", tensor.size(i));
  }
  if (length >= 0 && static_cast<size_t>(length) + 1 < size) {
    std::snprintf(text + length, size - static_cast<size_t>(length), "]");
  } else if (size >= 4) {
    std::snprintf(text + size - 4, 4, "...");
  }
}

}  // namespace vitrine
