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
  // Allocates `copy` without setting its elements. Returns false and fails the context if no memory
  // is left.
  static bool make(KernelContext& context, const Tensor& like, FloatCopy& copy);
  FloatCopy() = default;
  FloatCopy(const FloatCopy&) = delete;
  FloatCopy& operator=(const FloatCopy&) = delete;

  Tensor& tensor() { return tensor_; }
  // `from` and `to` must have the copy's sizes and dim order and be Half, BFloat16 or Float.
  void read(KernelContext& context, const Tensor& from);
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
