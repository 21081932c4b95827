#include <algorithm>
#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

// out[m, p] = sum over n of input[m, n] * weight[p, n] * the scale of n's group in row p, where
// weight_scales is [p] or [p, groups].
void mixed_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const Tensor& weight_scales, const Tensor* weight_zero_points,
                      std::optional<ScalarType> dtype, Tensor& out) {
  using Types = TypeList<float, Half>;
  if (weight_zero_points != nullptr) {
    context.fail(ErrorCode::kNotSupported, "weight_zero_points are not supported");
    return;
  }
  if (!check_dtype_in<Types>(context, input) || !check_dtype_in<Types>(context, out) ||
      !check_rank(context, input, 2, "input") || !check_rank(context, weight, 2, "weight") ||
      !check_dtype(context, weight, ScalarType::kChar, "weight") ||
      !check_dtype(context, weight_scales, input.dtype(), "weight_scales") ||
      (dtype && !check_dtype(context, out, *dtype, "out")) ||
      !check_sizes(context, weight, std::array{weight.size(0), input.size(1)}, "weight") ||
      !check_contiguous(context, weight_scales, "weight_scales")) {
    return;
  }
  const int64_t groups = weight_scales.rank() == 2 ? weight_scales.size(1) : 1;
  if (weight_scales.rank() < 1 || weight_scales.rank() > 2 || groups < 1 ||
      weight_scales.size(0) != weight.size(0)) {
    context.fail(ErrorCode::kInvalidArgument,
                 "weight_scales are not one or several for each of %d rows", weight.size(0));
    return;
  }
  if (!context.resize(out, std::array{input.size(0), weight.size(0)}) ||
      !check_data(context, {&input, &weight, &weight_scales, &out})) {
    return;
  }
  const Layout rows(input);
  const Layout columns(weight);
  const Layout to(out);
  const int64_t depth = rows.sizes[1];
  const int64_t group_size = std::max<int64_t>((depth + groups - 1) / groups, 1);
  dispatch<Types>(context, input.dtype(), [&]<class T>() {
    const bool halves = out.dtype() == ScalarType::kHalf;
    for (int64_t m = 0; m < to.sizes[0]; ++m) {
      for (int64_t p = 0; p < to.sizes[1]; ++p) {
        float sum = 0;
        for (int64_t n = 0; n < depth; ++n) {
          const auto quantized = static_cast<float>(
              weight.unchecked_data<int8_t>()[p * columns.strides[0] + n * columns.strides[1]]);
          sum += float(input.unchecked_data<T>()[m * rows.strides[0] + n * rows.strides[1]]) *
                 quantized * float(weight_scales.unchecked_data<T>()[p * groups + n / group_size]);
        }
        const int64_t place = m * to.strides[0] + p * to.strides[1];
        if (halves) {
          out.unchecked_mutable_data<Half>()[place] = Half(sum);
        } else {
          out.unchecked_mutable_data<float>()[place] = sum;
        }
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(mixed_linear_out, "quantized_decomposed::mixed_linear.out", mixed_linear_out);

}  // namespace vitrine::quantized
