#include <algorithm>

#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

struct Quantization {
  double scale;
  int64_t zero_point;
  int64_t lowest;
  int64_t highest;

  float real(int32_t value) const {
    return static_cast<float>(static_cast<double>(value) - static_cast<double>(zero_point)) *
           static_cast<float>(scale);
  }
};

void add_out(KernelContext& context, const Tensor& a, double a_scale, int64_t a_zero_point,
             int64_t a_quant_min, int64_t a_quant_max, const Tensor& b, double b_scale,
             int64_t b_zero_point, int64_t b_quant_min, int64_t b_quant_max, double out_scale,
             int64_t out_zero_point, int64_t out_quant_min, int64_t out_quant_max, Tensor& out) {
  const Quantization left{a_scale, a_zero_point, a_quant_min, a_quant_max};
  const Quantization right{b_scale, b_zero_point, b_quant_min, b_quant_max};
  const Quantization sum{out_scale, out_zero_point, out_quant_min, out_quant_max};
  for (const Quantization* quantization : {&left, &right, &sum}) {
    if (!check_quantized(context, a.dtype(), quantization->lowest, quantization->highest)) return;
  }
  if (!check_dtype(context, b, a.dtype(), "b") || !check_dtype(context, out, a.dtype(), "out") ||
      !check_sizes(context, b, a.sizes(), "b") || !context.resize(out, a.sizes()) ||
      !check_same_dim_order(context, a, b) || !check_same_dim_order(context, a, out) ||
      !check_data(context, {&a, &b, &out})) {
    return;
  }
  const float inverse = inverse_of(sum.scale);
  constexpr int64_t kBlockLength = 64;
  for (int64_t first = 0; first < a.numel(); first += kBlockLength) {
    const int64_t count = std::min(kBlockLength, a.numel() - first);
    int32_t lefts[kBlockLength];
    int32_t rights[kBlockLength];
    load_quantized(a, first, count, lefts);
    load_quantized(b, first, count, rights);
    for (int64_t i = 0; i < count; ++i) {
      lefts[i] = quantize_value(left.real(lefts[i]) + right.real(rights[i]), inverse,
                                sum.zero_point, sum.lowest, sum.highest);
    }
    store_quantized(lefts, out, first, count);
  }
}

}  // namespace

VITRINE_KERNEL(add_out, "quantized_decomposed::add.out", add_out);

}  // namespace vitrine::quantized
