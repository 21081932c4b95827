// A tensor together with its memory: what goes into a Module and comes out of it.
//
//   auto image = Array::copy_of<float>(pixels, {1, 3, 224, 224});
//   auto logits = outputs[0].array()->data<float>();
//
// Elements lie row-major, unless the Array was made with another dim order. An Array owns its
// memory or borrows the caller's; copies of an Array share one tensor, and the memory lives as long
// as the last of them. Not thread-safe.
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

// Sizes as an argument, {1, 3, 224, 224} or a span: valid during the call only.
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
  // Empty: of u8, rank 0 and numel() 0, without bytes.
  Array() = default;

  // All makers: InvalidArgument for negative sizes, more than kMaxRank of them, an unknown dtype,
  // or a product that overflows; MemoryAllocationFailed.
  // `dim_order` lists the dims from the outermost in memory to the innermost, as
  // TensorInfo::dim_order does; empty: row-major. InvalidArgument also if it does not list each dim
  // once.
  static Result<Array> zeros(ScalarType dtype, Sizes sizes,
                             std::span<const uint8_t> dim_order = {});
  // InvalidArgument also if the number of `elements` is not the product of `sizes`.
  template <class T>
  static Result<Array> copy_of(std::span<const T> elements, Sizes sizes) {
    return copy_of(scalar_type_of<T>, std::as_bytes(elements), sizes);
  }
  static Result<Array> copy_of(ScalarType dtype, std::span<const std::byte> bytes, Sizes sizes);
  // `memory` outlives the Array and its copies, and is aligned for the dtype.
  template <class T>
  static Result<Array> borrow(std::span<T> memory, Sizes sizes) {
    return borrow(scalar_type_of<T>, std::as_writable_bytes(memory), sizes);
  }
  static Result<Array> borrow(ScalarType dtype, std::span<std::byte> memory, Sizes sizes);
  // The elements of any tensor, in row-major order.
  static Result<Array> copy_of(const Tensor& tensor);

  // Copies elements in, which are in row-major order whatever the dim order of the Array is, as in
  // files that numpy's tofile() writes. InvalidArgument for another number of bytes.
  Error copy_from(std::span<const std::byte> bytes);

  bool is_empty() const { return state_ == nullptr; }

  ScalarType dtype() const { return tensor().dtype(); }
  std::span<const int32_t> sizes() const { return tensor().sizes(); }
  int64_t numel() const { return tensor().numel(); }
  bool owns_memory() const;
  // As they lie in memory, like data().
  std::span<const std::byte> bytes() const;
  std::span<std::byte> mutable_bytes();
  // InvalidType if the elements are not of type T, InvalidState if the Array is empty.
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

  // The tensor that the runtime takes; it lives as long as the memory. An empty Array gives one
  // without data, which is not to be changed.
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

// Copies the elements of `from` into `to`, of the same dtype and sizes, whatever their dim orders
// are.
void copy_elements(const Tensor& from, Tensor& to);

}  // namespace vitrine
