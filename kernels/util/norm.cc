#include "kernels/util/norm.h"

#include <cmath>

namespace vitrine {

bool check_parameter(KernelContext& context, const Tensor* tensor, std::span<const int32_t> sizes,
                     const char* name) {
  return tensor == nullptr ||
         (check_dtype_in<FloatHBF16Types>(context, *tensor) &&
          check_sizes(context, *tensor, sizes, name) && check_contiguous(context, *tensor, name));
}

bool check_norm(KernelContext& context, const Tensor& input, const Tensor* weight,
                const Tensor* bias, std::span<const int32_t> parameters,
                std::span<const int32_t> statistics, const NormOutputs& outputs) {
  const auto& [out, mean, rstd] = outputs;
  return check_dtype_in<FloatHBF16Types>(context, input) &&
         check_dtype_in<FloatHBF16Types>(context, mean) &&
         check_dtype_in<FloatHBF16Types>(context, rstd) &&
         check_dtype(context, out, input.dtype(), "out0") &&
         check_parameter(context, weight, parameters, "weight") &&
         check_parameter(context, bias, parameters, "bias") && context.resize(out, input.sizes()) &&
         context.resize(mean, statistics) && context.resize(rstd, statistics) &&
         check_contiguous(context, input, "input") && check_contiguous(context, out, "out0") &&
         check_contiguous(context, mean, "out1") && check_contiguous(context, rstd, "out2");
}

void write_element(Tensor& out, int64_t index, double value) {
  convert_run(ScalarType::kDouble, out.dtype())(
      &value, 1,
      out.unchecked_mutable_data<std::byte>() + index * static_cast<int64_t>(out.element_size()), 1,
      1);
}

double reciprocal_deviation(double variance, double epsilon) {
  return 1.0 / std::sqrt(variance + epsilon);
}

}  // namespace vitrine
