#pragma once

#include <array>
#include <optional>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::optimized {

// A Float tensor in temporary memory with the sizes and dim order of another tensor.
class FloatCopy {
 public:
  // Allocates memory for `copy` in the shape of `like`. The elements are uninitialized. Returns
  // false and fails the context if memory runs out.
  static bool make(KernelContext& context, const Tensor& like, FloatCopy& copy);
  FloatCopy() = default;
  FloatCopy(const FloatCopy&) = delete;
  FloatCopy& operator=(const FloatCopy&) = delete;

  Tensor& tensor() { return tensor_; }
  // Converts the elements of `from` to Float. `from` must be Half, BFloat16 or Float, with the
  // sizes and dim order of this copy.
  void read(KernelContext& context, const Tensor& from);
  // Converts the elements to the dtype of `to`. `to` must be Half, BFloat16 or Float, with the
  // sizes and dim order of this copy.
  void write(KernelContext& context, Tensor& to) const;

 private:
  std::array<int32_t, kMaxRank> sizes_;
  std::array<uint8_t, kMaxRank> dim_order_;
  std::array<int64_t, kMaxRank> strides_;
  Tensor tensor_;
};

bool is_reduced_float(ScalarType dtype);

}  // namespace vitrine::optimized
