// A view of typed elements in memory: dtype, sizes, dim order, data pointer. Owns nothing.
//
// Sizes, dim order, strides and data belong to whoever made the tensor (a Method's arena, a test)
// and outlive it. Elements lie densely in the order that `dim_order` gives, outermost dimension
// first; strides (in elements) follow from sizes and dim order and are never arbitrary.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/error.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

inline constexpr size_t kMaxRank = 16;

// Vector code may load a whole register at the end of a tensor, and so read this many bytes past
// it; their values mean nothing. Memory that allows this is said to have slack.
inline constexpr size_t kReadableSlack = 128;

enum class ShapeDynamism : uint8_t {
  kStatic = 0,        // sizes never change
  kDynamicBound = 1,  // may be resized to any shape of the same rank with no more elements
};

// Product of `sizes`. InvalidArgument if one is negative, or if the product overflows where zeros
// count as one.
Result<int64_t> checked_numel(std::span<const int32_t> sizes);

// Whether `dim_order` is a permutation of 0 .. size-1.
bool is_permutation(std::span<const uint8_t> dim_order);

// Strides in elements of a dense tensor; the three spans have the same length, and checked_numel
// has accepted `sizes`. A zero size counts as one, so that strides are never zero.
void strides_from_dim_order(std::span<const int32_t> sizes, std::span<const uint8_t> dim_order,
                            std::span<int64_t> strides);

class Tensor {
 public:
  Tensor() = default;

  // `sizes` (each >= 0), `dim_order` (a permutation) and `strides` have the same length, at most
  // kMaxRank; strides are computed here. numel must not overflow: see checked_numel. The element
  // count at construction is the bound for later resizes.
  Tensor(ScalarType dtype, std::span<int32_t> sizes, std::span<const uint8_t> dim_order,
         std::span<int64_t> strides, void* data, ShapeDynamism dynamism = ShapeDynamism::kStatic);

  ScalarType dtype() const { return dtype_; }
  size_t rank() const { return rank_; }
  std::span<const int32_t> sizes() const { return {sizes_, rank_}; }
  // 0 if there is no such dimension.
  int32_t size(size_t dim) const { return dim < rank_ ? sizes_[dim] : 0; }
  std::span<const uint8_t> dim_order() const { return {dim_order_, rank_}; }
  std::span<const int64_t> strides() const { return {strides_, rank_}; }
  int64_t numel() const { return numel_; }
  size_t element_size() const { return element_size_; }
  size_t nbytes() const { return static_cast<size_t>(numel_) * element_size_; }
  ShapeDynamism dynamism() const { return dynamism_; }
  // The element count that a resize may reach, and its bytes: the bound at construction, or less
  // where aliased memory is smaller.
  int64_t max_numel() const { return bound_numel_ < room_numel_ ? bound_numel_ : room_numel_; }
  size_t max_nbytes() const { return static_cast<size_t>(max_numel()) * element_size_; }
  // The required size of memory given to set_data().
  size_t bound_nbytes() const { return static_cast<size_t>(bound_numel_) * element_size_; }

  // dim order 0, 1, 2, ...
  bool is_contiguous() const { return contiguous_; }
  // dim order 0, 2, 3, 1 (rank 4) or 0, 2, 3, 4, 1 (rank 5)
  bool is_channels_last() const;
  bool same_sizes(const Tensor& other) const {
    if (rank_ != other.rank_) return false;
    for (size_t i = 0; i < rank_; ++i) {
      if (sizes_[i] != other.sizes_[i]) return false;
    }
    return true;
  }
  bool has_sizes(std::span<const int32_t> sizes) const;
  bool same_dim_order(const Tensor& other) const {
    if (rank_ != other.rank_) return false;
    return (contiguous_ && other.contiguous_) || same_listed_dim_order(other);
  }

  const void* raw_data() const { return data_; }
  void* mutable_raw_data() { return data_; }  // a constant's must not be written
  // Null if the elements are not of type T, or there is no memory. mutable_data() is null for a
  // constant, too.
  template <class T>
  const T* data() const {
    return dtype_ == scalar_type_of<T> ? unchecked_data<T>() : nullptr;
  }
  template <class T>
  T* mutable_data() {
    return dtype_ == scalar_type_of<T> && !read_only_ ? unchecked_mutable_data<T>() : nullptr;
  }
  // For callers that have checked the dtype, or that read the elements as another type.
  template <class T>
  const T* unchecked_data() const {
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* unchecked_mutable_data() {
    return static_cast<T*>(data_);
  }
  // `data` holds bound_nbytes(). `has_slack`: kReadableSlack bytes past these are readable, too.
  // Without it, delegates copy what they cannot read in place.
  void set_data(void* data, bool has_slack = false) {
    data_ = data;
    room_numel_ = bound_numel_;
    has_slack_ = has_slack;
  }
  bool has_slack() const { return has_slack_; }
  // Constants: their memory may be a file, mapped read-only.
  bool is_read_only() const { return read_only_; }
  void set_read_only() { read_only_ = true; }
  // Becomes a tensor of `sizes` in the memory of `other`, with that memory's properties: whether it
  // may be written, how many elements it holds and whether it has slack. Errors as in resize(),
  // with the bound at construction; InvalidArgument if `other` has less room. On error nothing
  // changes.
  Error alias(const Tensor& other, std::span<const int32_t> sizes);
  // Has the memory of `before` again, which is a copy of this tensor, or none if that is too small.
  void return_to(const Tensor& before) {
    data_ = numel_ <= before.room_numel_ ? before.data_ : nullptr;
    room_numel_ = before.room_numel_;
    read_only_ = before.read_only_;
    has_slack_ = before.has_slack_;
  }
  // Whether the memory can be read for all elements of `sizes`; and written up to max_numel().
  bool is_readable() const { return data_ != nullptr || numel_ == 0; }
  bool is_writable() const { return !read_only_ && (data_ != nullptr || max_numel() == 0); }

  // NotSupported if the tensor is static and `sizes` differ; InvalidArgument if the rank differs, a
  // size is negative, or there are more elements than max_numel(). The data stay where they are.
  Error resize(std::span<const int32_t> sizes);

 private:
  Error check_sizes(std::span<const int32_t> sizes, int64_t max_numel) const;
  void set_sizes(std::span<const int32_t> sizes);

  bool same_listed_dim_order(const Tensor& other) const;

  void* data_ = nullptr;
  int32_t* sizes_ = nullptr;
  const uint8_t* dim_order_ = nullptr;
  int64_t* strides_ = nullptr;
  int64_t numel_ = 0;
  int64_t bound_numel_ = 0;
  int64_t room_numel_ = 0;  // capacity of the memory
  uint8_t rank_ = 0;
  uint8_t element_size_ = 0;
  ScalarType dtype_ = ScalarType::kByte;
  ShapeDynamism dynamism_ = ShapeDynamism::kStatic;
  bool contiguous_ = true;
  bool read_only_ = false;
  bool has_slack_ = false;
};

// "f32[1,3,224,224]", for messages and tables; cut with "..." if `size` is too small.
void describe(const Tensor& tensor, char* text, size_t size);

}  // namespace vitrine
