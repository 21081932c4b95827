// Array is a tensor together with its memory. Modules accept and return Arrays.
//
//   auto image = Array::copy_of<float>(pixels, {1, 3, 224, 224});
//   auto logits = outputs[0].array()->data<float>();
//
// Elements are in row-major order, unless the Array was made with another dim order. An Array
// either owns its memory or borrows memory of the caller. Copies of an Array share one tensor. The
// last copy frees owned memory. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vitrine/error.h"
#include "vitrine/scalar_type.h"
#include "vitrine/tensor.h"

namespace vitrine {

// A function parameter for sizes: {1, 3, 224, 224}, a vector or a span. Refers to the caller's
// memory, so it is valid only during the call.
class Sizes {
 public:
  Sizes(std::initializer_list<int32_t> sizes)  // NOLINT(google-explicit-constructor)
      : sizes_(sizes.begin(), sizes.size()) {}
  Sizes(std::span<const int32_t> sizes) : sizes_(sizes) {}  // NOLINT(google-explicit-constructor)
  Sizes(const std::vector<int32_t>& sizes)
      : sizes_(sizes) {}  // NOLINT(google-explicit-constructor)
  std::span<const int32_t> get() const { return sizes_; }

 private:
  std::span<const int32_t> sizes_;
};

class Array {
 public:
  // An empty Array: u8, rank 0, numel() 0, no bytes.
  Array() = default;

  // zeros(), copy_of() and borrow() return InvalidArgument for a negative size, more than kMaxRank
  // sizes, an unknown dtype, or sizes whose product overflows. They return MemoryAllocationFailed
  // if memory runs out.

  // `dim_order` lists the dimensions from the outermost in memory to the innermost. Empty means
  // row-major. Returns InvalidArgument if `dim_order` is not a permutation of the dimensions.
  static Result<Array> zeros(ScalarType dtype, Sizes sizes,
                             std::span<const uint8_t> dim_order = {});
  // Copies elements in row-major order. Returns InvalidArgument if the number of elements is not
  // the product of `sizes`.
  template <class T>
  static Result<Array> copy_of(std::span<const T> elements, Sizes sizes) {
    return copy_of(scalar_type_of<T>, std::as_bytes(elements), sizes);
  }
  static Result<Array> copy_of(ScalarType dtype, std::span<const std::byte> bytes, Sizes sizes);
  // Uses the caller's memory, which must outlive the Array and its copies. Returns InvalidArgument
  // if the memory is not aligned for the dtype, or if its size does not match `sizes`.
  template <class T>
  static Result<Array> borrow(std::span<T> memory, Sizes sizes) {
    return borrow(scalar_type_of<T>, std::as_writable_bytes(memory), sizes);
  }
  static Result<Array> borrow(ScalarType dtype, std::span<std::byte> memory, Sizes sizes);
  // Copies the elements of any tensor into row-major order. Returns InvalidState if the tensor has
  // no memory.
  static Result<Array> copy_of(const Tensor& tensor);

  // Replaces the elements. `bytes` is in row-major order even if the Array has another dim order.
  // Returns InvalidArgument if `bytes` has the wrong size.
  Error copy_from(std::span<const std::byte> bytes);

  bool is_empty() const { return state_ == nullptr; }

  ScalarType dtype() const { return tensor().dtype(); }
  std::span<const int32_t> sizes() const { return tensor().sizes(); }
  int64_t numel() const { return tensor().numel(); }
  bool owns_memory() const;
  // The elements in memory order, like data().
  std::span<const std::byte> bytes() const;
  std::span<std::byte> mutable_bytes();
  // Returns InvalidType if the elements are not of type T, and InvalidState if the Array is empty.
  template <class T>
  Result<std::span<const T>> data() const {
    VITRINE_RETURN_IF_ERROR(check_dtype(scalar_type_of<T>));
    return std::span<const T>(tensor().template data<T>(), static_cast<size_t>(numel()));
  }
  template <class T>
  Result<std::span<T>> mutable_data() {
    VITRINE_RETURN_IF_ERROR(check_dtype(scalar_type_of<T>));
    return std::span<T>(mutable_tensor().template mutable_data<T>(), static_cast<size_t>(numel()));
  }

  // The tensor to pass to the runtime. The reference is valid while the Array or a copy exists. The
  // tensor of an empty Array has no data and must not be changed.
  const Tensor& tensor() const;
  Tensor& mutable_tensor();

 private:
  struct State;
  explicit Array(std::shared_ptr<State> state) : state_(std::move(state)) {}
  friend class Module;  // stages inputs in the layouts of programs
  static Result<Array> make(ScalarType dtype, std::span<const int32_t> sizes,
                            std::span<const uint8_t> dim_order);
  static Result<Array> allocate(ScalarType dtype, std::span<const int32_t> sizes,
                                std::span<const uint8_t> dim_order = {});
  Error check_dtype(ScalarType wanted) const;

  std::shared_ptr<State> state_;
};

// Both tensors must have the same dtype and sizes. Their dim orders may differ.
void copy_elements(const Tensor& from, Tensor& to);

}  // namespace vitrine
