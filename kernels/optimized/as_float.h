// Makes Float copies of Half and BFloat16 tensors for kernels that compute in float.
#pragma once

#include <array>
#include <optional>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::optimized {

// A Float tensor in temporary memory with the sizes and dim order of another tensor.
class FloatCopy {
 public:
  // Allocates `copy` with the sizes and dim order of `like`, but does not set its elements. Returns
  // false and fails the context if no memory is left.
  static bool make(KernelContext& context, const Tensor& like, FloatCopy& copy);
  FloatCopy() = default;
  FloatCopy(const FloatCopy&) = delete;
  FloatCopy& operator=(const FloatCopy&) = delete;

  Tensor& tensor() { return tensor_; }
  // Copies the elements of `from` and converts them to Float. `from` must be Half, BFloat16 or
  // Float and have the sizes and dim order of this copy.
  void read(KernelContext& context, const Tensor& from);
  // Converts the elements to the dtype of `to` and stores them in `to`. `to` has the same
  // requirements as `from` in read().
  void write(KernelContext& context, Tensor& to) const;

 private:
  std::array<int32_t, kMaxRank> sizes_;
  std::array<uint8_t, kMaxRank> dim_order_;
  std::array<int64_t, kMaxRank> strides_;
  Tensor tensor_;
};

// Returns true if the dtype is Half or BFloat16.
bool is_reduced_float(ScalarType dtype);

}  // namespace vitrine::optimized
