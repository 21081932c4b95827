#pragma once

#include <cstdint>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/convert.h"

namespace vitrine {

// Returns the elements of a row-major tensor as T: the tensor's own memory, or a converted copy in
// temporary memory. Returns null if `tensor` is null. Fails the context and returns null if no
// conversion exists or temporary memory runs out.
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

// Fails unless `tensor` (a weight, bias or statistic) is null, or floating and row-major with the
// shape `sizes`.
[[nodiscard]] bool check_parameter(KernelContext& context, const Tensor* tensor,
                                   std::span<const int32_t> sizes, const char* name);

struct NormOutputs {
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
};

// Resizes the outputs and checks that all tensors are floating and row-major. `parameters` is the
// shape of weight and bias. `statistics` is the shape of mean and rstd.
[[nodiscard]] bool check_norm(KernelContext& context, const Tensor& input, const Tensor* weight,
                              const Tensor* bias, std::span<const int32_t> parameters,
                              std::span<const int32_t> statistics, const NormOutputs& outputs);

// `out` must be row-major and floating.
void write_element(Tensor& out, int64_t index, double value);

// 1 / sqrt(variance + epsilon).
double reciprocal_deviation(double variance, double epsilon);

}  // namespace vitrine
