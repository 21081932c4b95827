// Operators that multiply floats by quantized weights.
#include <algorithm>
#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

using Types = TypeList<float, Half>;

bool check_mixed(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const Tensor& weight_scales, const Tensor* weight_zero_points) {
  if (weight_zero_points != nullptr) {
    context.fail(ErrorCode::kNotSupported, "weight_zero_points are not supported");
    return false;
  }
  return check_dtype_in<Types>(context, input) && check_rank(context, input, 2, "input") &&
         check_rank(context, weight, 2, "weight") &&
         check_dtype(context, weight, ScalarType::kChar, "weight") &&
         check_dtype(context, weight_scales, input.dtype(), "weight_scales");
}

// out[m, p] = sum over n of input[m, n] * w[n, p] * scales[scale_at(n, p)]. w is `weight` if
// depth_dim is 0, and the transpose of `weight` if depth_dim is 1.
template <class T, class ScaleAt>
void multiply(const Tensor& input, const Tensor& weight, size_t depth_dim, const Tensor& scales,
              Tensor& out, ScaleAt scale_at) {
  if (out.numel() == 0) return;  // without elements, the loop over the rows does nothing
  const Layout rows(input);
  const Layout weights(weight);
  const Layout to(out);
  const bool is_half = out.dtype() == ScalarType::kHalf;
  for (int64_t m = 0; m < to.sizes[0]; ++m) {
    for (int64_t p = 0; p < to.sizes[1]; ++p) {
      float sum = 0;
      for (int64_t n = 0; n < rows.sizes[1]; ++n) {
        const auto quantized =
            static_cast<float>(weight.unchecked_data<int8_t>()[n * weights.strides[depth_dim] +
                                                               p * weights.strides[1 - depth_dim]]);
        sum += float(input.unchecked_data<T>()[m * rows.strides[0] + n * rows.strides[1]]) *
               quantized * float(scales.unchecked_data<T>()[scale_at(n, p)]);
      }
      const int64_t offset = m * to.strides[0] + p * to.strides[1];
      if (is_half) {
        out.unchecked_mutable_data<Half>()[offset] = Half(sum);
      } else {
        out.unchecked_mutable_data<float>()[offset] = sum;
      }
    }
  }
}

// out[m, p] = sum over n of input[m, n] * weight[p, n] * s, where s is the scale of column n's
// group in row p. weight_scales is [rows of weight] or [rows of weight, groups].
void mixed_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const Tensor& weight_scales, const Tensor* weight_zero_points,
                      std::optional<ScalarType> dtype, Tensor& out) {
  if (!check_mixed(context, input, weight, weight_scales, weight_zero_points) ||
      !check_dtype_in<Types>(context, out) ||
      (dtype && !check_dtype(context, out, *dtype, "out")) ||
      !check_sizes(context, weight, std::array{weight.size(0), input.size(1)}, "weight") ||
      !check_contiguous(context, weight_scales, "weight_scales")) {
    return;
  }
  const int64_t groups = weight_scales.rank() == 2 ? weight_scales.size(1) : 1;
  if (weight_scales.rank() < 1 || weight_scales.rank() > 2 || groups < 1 ||
      weight_scales.size(0) != weight.size(0)) {
    return context.fail(ErrorCode::kInvalidArgument, "weight_scales must be [%d] or [%d,groups]",
                        weight.size(0), weight.size(0));
  }
  if (!context.resize(out, std::array{input.size(0), weight.size(0)}) ||
      !check_data(context, {&input, &weight, &weight_scales, &out})) {
    return;
  }
  const int64_t group_size = std::max<int64_t>((input.size(1) + groups - 1) / groups, 1);
  dispatch<Types>(context, input.dtype(), [&]<class T>() {
    multiply<T>(input, weight, 1, weight_scales, out,
                [&](int64_t n, int64_t p) { return p * groups + n / group_size; });
  });
}

// out[m, p] = sum over n of input[m, n] * (weight[n, p] * weight_scales[n]).
void mixed_mm_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                  const Tensor& weight_scales, const Tensor* weight_zero_points, Tensor& out) {
  if (!check_mixed(context, input, weight, weight_scales, weight_zero_points) ||
      !check_dtype(context, out, input.dtype(), "out") ||
      !check_sizes(context, weight, std::array{input.size(1), weight.size(1)}, "weight") ||
      !check_sizes(context, weight_scales, std::array{weight.size(0)}, "weight_scales") ||
      !context.resize(out, std::array{input.size(0), weight.size(1)}) ||
      !check_data(context, {&input, &weight, &weight_scales, &out})) {
    return;
  }
  dispatch<Types>(context, input.dtype(), [&]<class T>() {
    multiply<T>(input, weight, 0, weight_scales, out, [](int64_t n, int64_t) { return n; });
  });
}

}  // namespace

VITRINE_KERNEL(mixed_linear_out, "quantized_decomposed::mixed_linear.out", mixed_linear_out);
VITRINE_KERNEL(mixed_mm_out, "quantized_decomposed::mixed_mm.out", mixed_mm_out);

}  // namespace vitrine::quantized
