// Code that the normalising operators share.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/convert.h"

namespace vitrine {

// The elements of a row-major `tensor` as T: its own memory if it has that dtype, else a copy in
// temporary memory. Null if `tensor` is, and (after failing the context) on an unknown dtype.
template <class T>
const T* elements_as(KernelContext& context, const Tensor* tensor) {
  if (tensor == nullptr) return nullptr;
  if (tensor->dtype() == scalar_type_of<T>) return tensor->unchecked_data<T>();
  const ConvertRun convert = convert_run(tensor->dtype(), scalar_type_of<T>);
  if (convert == nullptr) {
    fail_unsupported_dtype(context, tensor->dtype());
    return nullptr;
  }
  const std::span<T> copy = context.allocate_temp_array<T>(static_cast<size_t>(tensor->numel()));
  if (!copy.empty()) convert(tensor->raw_data(), 1, copy.data(), 1, tensor->numel());
  return copy.data();
}

// An optional weight, bias or statistic: floating, of shape `sizes`, row-major.
[[nodiscard]] bool check_parameter(KernelContext& context, const Tensor* tensor,
                                   std::span<const int32_t> sizes, const char* name);

// The outputs of a normalisation of `input` by rows or groups.
struct NormOutputs {
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
};

// Checks dtypes, and that all is row-major; resizes the outputs. Weight and bias have the sizes
// `parameters`, mean and rstd `statistics`.
[[nodiscard]] bool check_norm(KernelContext& context, const Tensor& input, const Tensor* weight,
                              const Tensor* bias, std::span<const int32_t> parameters,
                              std::span<const int32_t> statistics, const NormOutputs& outputs);

// Writes one number into element `index` of a row-major floating tensor.
void put(Tensor& out, int64_t index, double value);

// 1 / sqrt(variance + epsilon)
double reciprocal_deviation(double variance, double epsilon);

}  // namespace vitrine
