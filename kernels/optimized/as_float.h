// Half and BFloat16 tensors as float ones, for kernels that compute in float.
#pragma once

#include <array>
#include <optional>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::optimized {

// A Float tensor in temporary memory, of another tensor's sizes and dim order.
class FloatCopy {
 public:
  // Nothing (and a failed context) without memory. Elements are not set.
  static bool make(KernelContext& context, const Tensor& like, FloatCopy& copy);
  FloatCopy() = default;
  FloatCopy(const FloatCopy&) = delete;
  FloatCopy& operator=(const FloatCopy&) = delete;

  Tensor& tensor() { return tensor_; }
  // `from` and `to`: of the copy's sizes and dim order, Half, BFloat16 or Float.
  void read(KernelContext& context, const Tensor& from);
  void write(KernelContext& context, Tensor& to) const;

 private:
  std::array<int32_t, kMaxRank> sizes_;
  std::array<uint8_t, kMaxRank> dim_order_;
  std::array<int64_t, kMaxRank> strides_;
  Tensor tensor_;
};

// Whether the dtype is Half or BFloat16.
bool is_reduced_float(ScalarType dtype);

}  // namespace vitrine::optimized
