#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

// out[m, p] = sum over n of input[m, n] * (weight[n, p] * weight_scales[n]).
void mixed_mm_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                  const Tensor& weight_scales, const Tensor* weight_zero_points, Tensor& out) {
  using Types = TypeList<float, Half>;
  if (weight_zero_points != nullptr) {
    context.fail(ErrorCode::kNotSupported, "weight_zero_points are not supported");
    return;
  }
  if (!check_dtype_in<Types>(context, input) || !check_rank(context, input, 2, "input") ||
      !check_rank(context, weight, 2, "weight") ||
      !check_dtype(context, weight, ScalarType::kChar, "weight") ||
      !check_dtype(context, weight_scales, input.dtype(), "weight_scales") ||
      !check_dtype(context, out, input.dtype(), "out") ||
      !check_sizes(context, weight, std::array{input.size(1), weight.size(1)}, "weight") ||
      !check_sizes(context, weight_scales, std::array{weight.size(0)}, "weight_scales") ||
      !context.resize(out, std::array{input.size(0), weight.size(1)}) ||
      !check_data(context, {&input, &weight, &weight_scales, &out})) {
    return;
  }
  const Layout rows(input);
  const Layout columns(weight);
  const Layout to(out);
  dispatch<Types>(context, input.dtype(), [&]<class T>() {
    for (int64_t m = 0; m < to.sizes[0]; ++m) {
      for (int64_t p = 0; p < to.sizes[1]; ++p) {
        float sum = 0;
        for (int64_t n = 0; n < rows.sizes[1]; ++n) {
          const auto quantized = static_cast<float>(
              weight.unchecked_data<int8_t>()[n * columns.strides[0] + p * columns.strides[1]]);
          sum += float(input.unchecked_data<T>()[m * rows.strides[0] + n * rows.strides[1]]) *
                 quantized * float(weight_scales.unchecked_data<T>()[n]);
        }
        out.unchecked_mutable_data<T>()[m * to.strides[0] + p * to.strides[1]] = T(sum);
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(mixed_mm_out, "quantized_decomposed::mixed_mm.out", mixed_mm_out);

}  // namespace vitrine::quantized
