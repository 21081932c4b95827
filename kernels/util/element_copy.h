#pragma once

#include <cstdint>
#include <optional>

#include "kernels/util/convert.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Copies runs of elements and converts them. Both dtypes must be REALHBBF16, or equal. Source and
// destination may be the same memory.
class ElementMover {
 public:
  // Fails with InvalidArgument if no conversion exists.
  static std::optional<ElementMover> make(KernelContext& context, ScalarType from, ScalarType to);

  // Offsets and strides are in elements; strides may be negative.
  void move(const void* from, int64_t from_offset, int64_t from_stride, void* to, int64_t to_offset,
            int64_t to_stride, int64_t count) const {
    run_(static_cast<const std::byte*>(from) + from_offset * from_size_, from_stride,
         static_cast<std::byte*>(to) + to_offset * to_size_, to_stride, count);
  }

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

// Copies between two layouts of equal sizes. Fails if a tensor has no memory or no conversion
// exists.
[[nodiscard]] bool copy_elements(KernelContext& context, const Tensor& from,
                                 const Layout& from_layout, Tensor& to, const Layout& to_layout);

// `from` must have the sizes of `to_layout`.
[[nodiscard]] bool copy_exact(KernelContext& context, const Tensor& from, Tensor& to,
                              const Layout& to_layout);
// Broadcasts `from` to the sizes of `to_layout`.
[[nodiscard]] bool copy_broadcast(KernelContext& context, const Tensor& from, Tensor& to,
                                  const Layout& to_layout);

// Sets the elements of `to_layout` to the scalar, converted to the dtype of `to`.
[[nodiscard]] bool fill_elements(KernelContext& context, const Scalar& value, Tensor& to,
                                 const Layout& to_layout);

// Resizes `out` to the sizes of `view`, and copies the elements of `self` in `view`. Both tensors
// must have the same dtype.
void copy_view(KernelContext& context, const Tensor& self, const Layout& view, Tensor& out);
// Resizes `out` and copies. Dtypes and dim orders may differ.
void copy_tensor(KernelContext& context, const Tensor& self, Tensor& out);
// Copies the elements of `self` in row-major order into `out`, which keeps its sizes. Dtypes and
// numbers of elements must be equal.
void copy_reshaped(KernelContext& context, const Tensor& self, Tensor& out);

}  // namespace vitrine
