#include "kernels/util/norm.h"

#include <cmath>

namespace vitrine {

bool check_parameter(KernelContext& context, const Tensor* tensor, std::span<const int32_t> sizes,
                     const char* name) {
  return tensor == nullptr ||
         (check_dtype_in<FloatHBF16Types>(context, *tensor) &&
          check_sizes(context, *tensor, sizes, name) && check_contiguous(context, *tensor, name));
}

void put(Tensor& out, int64_t index, double value) {
  convert_run(ScalarType::kDouble, out.dtype())(
      &value, 1, out.mutable_data<std::byte>() + index * static_cast<int64_t>(out.element_size()),
      1, 1);
}

double reciprocal_deviation(double variance, double epsilon) {
  return 1.0 / std::sqrt(variance + epsilon);
}

}  // namespace vitrine
