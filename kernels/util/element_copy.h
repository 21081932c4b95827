// Copying elements between layouts, with conversion where the dtypes differ.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/util/convert.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Moves runs of elements of one dtype to another. Equal dtypes move as bytes, so any dtype will do;
// different ones must both be REALHBBF16. Source and destination may be the same memory.
class ElementMover {
 public:
  // InvalidArgument if the conversion does not exist.
  static std::optional<ElementMover> make(KernelContext& context, ScalarType from, ScalarType to);

  // Offsets and strides count elements; strides may be negative.
  void move(const void* from, int64_t from_offset, int64_t from_stride, void* to, int64_t to_offset,
            int64_t to_stride, int64_t count) const;

 private:
  int64_t from_size_ = 0;
  int64_t to_size_ = 0;
  ConvertRun run_ = nullptr;
};

// A Scalar as a 0-d tensor.
class ScalarElement {
 public:
  explicit ScalarElement(const Scalar& value)
      : real_(value.to<double>()),
        integer_(value.to<int64_t>()),
        tensor_(value.is_floating() ? ScalarType::kDouble : ScalarType::kLong, {}, {}, {},
                value.is_floating() ? static_cast<void*>(&real_) : static_cast<void*>(&integer_)) {}
  ScalarElement(const ScalarElement&) = delete;
  ScalarElement& operator=(const ScalarElement&) = delete;

  const Tensor& tensor() const { return tensor_; }

 private:
  double real_;
  int64_t integer_;
  Tensor tensor_;
};

// Two layouts of equal sizes. Fails (and gives false) if a tensor has no memory or the conversion
// does not exist.
[[nodiscard]] bool copy_elements(KernelContext& context, const Tensor& from,
                                 const Layout& from_layout, Tensor& to, const Layout& to_layout);

// The same from a whole tensor, which must have the layout's sizes.
[[nodiscard]] bool copy_exact(KernelContext& context, const Tensor& from, Tensor& to,
                              const Layout& to_layout);
// The same from a whole tensor, broadcast to the layout's sizes.
[[nodiscard]] bool copy_broadcast(KernelContext& context, const Tensor& from, Tensor& to,
                                  const Layout& to_layout);

// Sets all elements of a layout to the scalar, converted as elements are.
[[nodiscard]] bool fill_elements(KernelContext& context, const Scalar& value, Tensor& to,
                                 const Layout& to_layout);

// out = view of self: resizes `out`, which has self's dtype, and copies.
void copy_view(KernelContext& context, const Tensor& self, const Layout& view, Tensor& out);
// out = self, of self's sizes, each with its own dim order; converts.
void copy_tensor(KernelContext& context, const Tensor& self, Tensor& out);
// out = the elements of self in row-major order, with other sizes (as many elements) and the same
// dtype; out is not resized.
void copy_reshaped(KernelContext& context, const Tensor& self, Tensor& out);

}  // namespace vitrine
