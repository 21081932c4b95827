// Tensor is a view of typed elements in memory: dtype, sizes, dim order and data pointer.
//
// Sizes, dim order, strides and data belong to the object that made the tensor (a Method, an Array,
// a test) and must outlive the tensor. Elements are dense, in the order of `dim_order`, which lists
// the outermost dimension first. Strides are in elements. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/error.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

inline constexpr size_t kMaxRank = 16;

// Vector code may read this many bytes past the end of a tensor. The values of these bytes do not
// matter. Memory in which these bytes are readable "has slack".
inline constexpr size_t kReadableSlack = 128;

enum class ShapeDynamism : uint8_t {
  kStatic = 0,        // sizes never change
  kDynamicBound = 1,  // sizes may change, but not the rank; the number of elements is bounded
};

// Returns the product of `sizes`. Returns InvalidArgument if a size is negative, or if the product
// of the nonzero sizes and the largest element size (16 bytes) does not fit into ptrdiff_t.
Result<int64_t> checked_numel(std::span<const int32_t> sizes);

// True if `dim_order` is a permutation of the numbers from 0 to dim_order.size() - 1.
bool is_permutation(std::span<const uint8_t> dim_order);

// The strides of a dense tensor, in elements. The three spans must have the same length, and
// checked_numel() must accept `sizes`. A size of zero counts as one, so that every stride is
// positive.
void strides_from_dim_order(std::span<const int32_t> sizes, std::span<const uint8_t> dim_order,
                            std::span<int64_t> strides);

class Tensor {
 public:
  Tensor() = default;

  // `sizes`, `dim_order` (a permutation) and `strides` must have the same length, at most kMaxRank,
  // and checked_numel() must accept `sizes`. The constructor computes the strides. Later resizes
  // cannot exceed the initial number of elements.
  Tensor(ScalarType dtype, std::span<int32_t> sizes, std::span<const uint8_t> dim_order,
         std::span<int64_t> strides, void* data, ShapeDynamism dynamism = ShapeDynamism::kStatic);

  ScalarType dtype() const { return dtype_; }
  size_t rank() const { return rank_; }
  std::span<const int32_t> sizes() const { return {sizes_, rank_}; }
  // 0 if `dim` is out of range.
  int32_t size(size_t dim) const { return dim < rank_ ? sizes_[dim] : 0; }
  std::span<const uint8_t> dim_order() const { return {dim_order_, rank_}; }
  std::span<const int64_t> strides() const { return {strides_, rank_}; }
  int64_t numel() const { return numel_; }
  size_t element_size() const { return element_size_; }
  size_t nbytes() const { return static_cast<size_t>(numel_) * element_size_; }
  ShapeDynamism dynamism() const { return dynamism_; }
  // max_numel() is the largest number of elements that resize() allows: the number at construction,
  // or less if alias() set smaller memory. max_nbytes() is the size of these elements.
  int64_t max_numel() const {
    return bound_numel_ < capacity_numel_ ? bound_numel_ : capacity_numel_;
  }
  size_t max_nbytes() const { return static_cast<size_t>(max_numel()) * element_size_; }
  // Required size of the memory for set_data().
  size_t bound_nbytes() const { return static_cast<size_t>(bound_numel_) * element_size_; }

  // True for the dim order 0, 1, 2, ... (row-major).
  bool is_contiguous() const { return contiguous_; }
  // True for the dim orders 0, 2, 3, 1 and 0, 2, 3, 4, 1.
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
  void* mutable_raw_data() { return data_; }  // must not be written if is_read_only()
  // data() and mutable_data() return null if the elements are not of type T, or if the tensor has
  // no memory. mutable_data() also returns null if is_read_only() is true.
  template <class T>
  const T* data() const {
    return dtype_ == scalar_type_of<T> ? unchecked_data<T>() : nullptr;
  }
  template <class T>
  T* mutable_data() {
    return dtype_ == scalar_type_of<T> && !read_only_ ? unchecked_mutable_data<T>() : nullptr;
  }
  // For callers that have checked the dtype, or that access the elements as another type.
  template <class T>
  const T* unchecked_data() const {
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* unchecked_mutable_data() {
    return static_cast<T*>(data_);
  }
  // Sets the memory, which must have bound_nbytes() bytes. If `has_slack` is true, kReadableSlack
  // more bytes must be readable. Without slack, delegates may have to copy the tensor.
  void set_data(void* data, bool has_slack = false) {
    data_ = data;
    capacity_numel_ = bound_numel_;
    has_slack_ = has_slack;
    constant_ = false;
  }
  bool has_slack() const { return has_slack_; }
  // True for constants, whose memory may be a file that is mapped read-only.
  bool is_read_only() const { return read_only_; }
  void set_read_only() { read_only_ = true; }
  // True if the memory and its content never change while the tensor exists. Kernels may then keep
  // data that they derive from the content. False for external constants and for aliases.
  bool is_constant() const { return constant_; }
  void set_constant() { constant_ = true; }
  // Makes this tensor use the memory of `other`, with the given sizes. Copies the capacity, the
  // read-only flag and the slack flag of that memory. Errors are those of resize(), but the limit
  // is different: the number of elements may exceed neither the number at construction nor the
  // capacity of the memory. On error, nothing changes.
  Error alias(const Tensor& other, std::span<const int32_t> sizes);
  // Restores the memory from `before`, an earlier copy of this tensor. If that memory is too small
  // for the current sizes, the tensor has no memory afterward.
  void restore_memory(const Tensor& before) {
    data_ = numel_ <= before.capacity_numel_ ? before.data_ : nullptr;
    capacity_numel_ = before.capacity_numel_;
    read_only_ = before.read_only_;
    has_slack_ = before.has_slack_;
    constant_ = before.constant_;
  }
  // is_readable() is true if there is memory for all elements. is_writable() is true if there is
  // writable memory for max_numel() elements.
  bool is_readable() const { return data_ != nullptr || numel_ == 0; }
  bool is_writable() const { return !read_only_ && (data_ != nullptr || max_numel() == 0); }

  // Changes the sizes. Elements stay where they are. Returns NotSupported if the tensor is static
  // and `sizes` differ. Returns InvalidArgument if the rank differs, a size is negative, or there
  // would be more than max_numel() elements.
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
  int64_t capacity_numel_ = 0;  // number of elements for which the memory suffices
  uint8_t rank_ = 0;
  uint8_t element_size_ = 0;
  ScalarType dtype_ = ScalarType::kByte;
  ShapeDynamism dynamism_ = ShapeDynamism::kStatic;
  bool contiguous_ = true;
  bool read_only_ = false;
  bool has_slack_ = false;
  bool constant_ = false;
};

// Writes a description such as "f32[1,3,224,224]" into `text`. A description that does not fit ends
// in "...".
void describe(const Tensor& tensor, char* text, size_t size);

}  // namespace vitrine
