#include "vitrine/tensor.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/core/checked_math.h"

namespace vitrine {
namespace {

// Writes sizes as "[2,3]". A text that does not fit ends in "...".
void describe_sizes(std::span<const int32_t> sizes, char* text, size_t size) {
  size_t length = 0;
  const auto append = [&](const char* separator, int32_t number) {
    if (length >= size) return;
    length +=
        static_cast<size_t>(std::snprintf(text + length, size - length, "%s%d", separator, number));
  };
  for (size_t i = 0; i < sizes.size(); ++i) append(i == 0 ? "[" : ",", sizes[i]);
  const char* end = sizes.empty() ? "[]" : "]";
  if (length < size) {
    length += static_cast<size_t>(std::snprintf(text + length, size - length, "%s", end));
  }
  if (length >= size && size >= 4) std::memcpy(text + size - 4, "...", 4);
}

}  // namespace

Result<int64_t> checked_numel(std::span<const int32_t> sizes) {
  // The number of bytes must not overflow for any dtype. Sizes of zero are skipped, because strides
  // must not overflow either.
  constexpr ptrdiff_t kMaxElementBytes = 16;
  ptrdiff_t bytes = kMaxElementBytes;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      return Error::make(ErrorCode::kInvalidArgument, "size %d of dimension %zu is negative",
                         sizes[i], i);
    }
    if (sizes[i] == 0) {
      empty = true;
    } else if (mul_overflows(bytes, sizes[i], &bytes)) {
      return Error::make(ErrorCode::kInvalidArgument, "the product of the sizes overflows");
    }
  }
  return empty ? 0 : int64_t{bytes / kMaxElementBytes};
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
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    const uint8_t dim = dim_order[i];
    strides[dim] = stride;
    stride *= std::max(sizes[dim], 1);
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
  bound_numel_ = capacity_numel_ = numel_;
  strides_from_dim_order(sizes, dim_order, strides);
}

bool Tensor::is_channels_last() const {
  constexpr uint8_t kOrder4[] = {0, 2, 3, 1};
  constexpr uint8_t kOrder5[] = {0, 2, 3, 4, 1};
  return (rank_ == 4 && std::equal(dim_order_, dim_order_ + 4, kOrder4)) ||
         (rank_ == 5 && std::equal(dim_order_, dim_order_ + 5, kOrder5));
}

bool Tensor::same_listed_dim_order(const Tensor& other) const {
  return std::equal(dim_order_, dim_order_ + rank_, other.dim_order_);
}

Error Tensor::alias(const Tensor& other, std::span<const int32_t> sizes) {
  const auto room =
      element_size_ == 0 ? 0 : static_cast<int64_t>(other.max_nbytes() / element_size_);
  VITRINE_RETURN_IF_ERROR(check_sizes(sizes, std::min(bound_numel_, room)));
  set_sizes(sizes);
  data_ = other.data_;
  read_only_ = other.read_only_;
  has_slack_ = other.has_slack_;
  constant_ = false;
  capacity_numel_ = room;
  return Error();
}

Error Tensor::resize(std::span<const int32_t> sizes) {
  if (has_sizes(sizes)) return Error();
  VITRINE_RETURN_IF_ERROR(check_sizes(sizes, max_numel()));
  set_sizes(sizes);
  return Error();
}

bool Tensor::has_sizes(std::span<const int32_t> sizes) const {
  if (sizes.size() != rank_) return false;
  for (size_t i = 0; i < rank_; ++i) {  // faster than memcmp for few sizes
    if (sizes[i] != sizes_[i]) return false;
  }
  return true;
}

Error Tensor::check_sizes(std::span<const int32_t> sizes, int64_t max_numel) const {
  const auto refuse = [&](ErrorCode code, const char* reason) {
    char from[128];
    char to[128];
    describe(*this, from, sizeof from);
    describe_sizes(sizes, to, sizeof to);
    return Error::make(code, "%s cannot become %s: %s", from, to, reason);
  };
  if (sizes.size() != rank_) return refuse(ErrorCode::kInvalidArgument, "its rank is fixed");
  Result<int64_t> numel = checked_numel(sizes);
  if (!numel.ok()) return refuse(ErrorCode::kInvalidArgument, numel.error().message());
  if (dynamism_ == ShapeDynamism::kStatic && !has_sizes(sizes)) {
    return refuse(ErrorCode::kNotSupported, "its shape is static");
  }
  if (*numel > max_numel) {
    char reason[64];
    std::snprintf(reason, sizeof reason, "at most %lld elements are possible",
                  static_cast<long long>(max_numel));
    return refuse(ErrorCode::kInvalidArgument, reason);
  }
  return Error();
}

void Tensor::set_sizes(std::span<const int32_t> sizes) {
  numel_ = 1;
  for (size_t i = 0; i < rank_; ++i) {
    sizes_[i] = sizes[i];
    numel_ *= sizes[i];
  }
  strides_from_dim_order({sizes_, rank_}, {dim_order_, rank_}, {strides_, rank_});
}

void describe(const Tensor& tensor, char* text, size_t size) {
  const int length = std::snprintf(text, size, "%s", scalar_type_name(tensor.dtype()));
  if (length < 0 || static_cast<size_t>(length) >= size) return;
  describe_sizes(tensor.sizes(), text + length, size - static_cast<size_t>(length));
}

}  // namespace vitrine
