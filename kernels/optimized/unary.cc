// Operators on one floating tensor, including pow with a Scalar exponent.
#include <cmath>
#include <limits>
#include <string_view>

#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/scalar_value.h"

namespace vitrine::optimized {

namespace {

template <simd::Run (*run)()>
bool unary(KernelContext& context, const Tensor& self, Tensor& out) {
  return elementwise(context, {run()}, self.dtype(), {self}, out);
}

bool sin_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return elementwise(context, {simd::sine(), {0.0F}}, self.dtype(), {self}, out);
}
bool cos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return elementwise(context, {simd::sine(), {1.0F}}, self.dtype(), {self}, out);
}

bool clamp(KernelContext& context, const Tensor& self, const Scalar& low, const Scalar& high,
           Tensor& out) {
  const FloatOperator op{simd::clamp(), {low.to<float>(), high.to<float>()}};
  if (std::isnan(op.parameters[0]) || std::isnan(op.parameters[1]) || !fits(low, self.dtype()) ||
      !fits(high, self.dtype())) {
    return false;
  }
  return elementwise(context, op, self.dtype(), {self}, out);
}

bool clamp_out(KernelContext& context, const Tensor& self, std::optional<Scalar> min,
               std::optional<Scalar> max, Tensor& out) {
  if (!min && !max) return false;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return clamp(context, self, min.value_or(Scalar(-kNone)), max.value_or(Scalar(kNone)), out);
}

bool leaky_relu_out(KernelContext& context, const Tensor& self, const Scalar& negative_slope,
                    Tensor& out) {
  if (!fits(negative_slope, self.dtype())) return false;
  return elementwise(context, {simd::leaky_relu(), {negative_slope.to<float>()}}, self.dtype(),
                     {self}, out);
}

bool elu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, const Scalar& scale,
             const Scalar& input_scale, Tensor& out) {
  const auto negative = static_cast<float>(alpha.to<double>() * scale.to<double>());
  return elementwise(context, {simd::elu(), {negative, scale.to<float>(), input_scale.to<float>()}},
                     self.dtype(), {self}, out);
}

bool gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate,
              Tensor& out) {
  if (approximate != "none" && approximate != "tanh") return false;
  const simd::Run run = approximate == "none" ? simd::gelu() : simd::gelu_tanh();
  return elementwise(context, {run}, self.dtype(), {self}, out);
}

// Computes powers with exponents that are not in kKnownPowers.
void power(const void* const* inputs, const float* parameters, void* out, int64_t count,
           int64_t /*total_count*/) {
  const auto* const base = static_cast<const float*>(inputs[0]);
  auto* const result = static_cast<float*>(out);
  for (int64_t i = 0; i < count; ++i) result[i] = std::pow(base[i], parameters[0]);
}

struct KnownPower {
  double exponent;
  simd::Run (*run)();
};
constexpr KnownPower kKnownPowers[] = {
    {2.0, simd::square},      {3.0, simd::cube},   {0.5, simd::sqrt},
    {-1.0, simd::reciprocal}, {-0.5, simd::rsqrt}, {-2.0, simd::inverse_square},
};

bool pow_tensor_scalar_out(KernelContext& context, const Tensor& self, const Scalar& exponent,
                           Tensor& out) {
  if (!is_floating(self.dtype()) || !fits(exponent, ScalarType::kFloat)) return false;
  FloatOperator op{power, {exponent.to<float>()}};
  for (const KnownPower& known : kKnownPowers) {
    if (exponent.to<double>() == known.exponent) op.run = known.run();
  }
  return elementwise(context, op, self.dtype(), {self}, out);
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(abs_out, "aten::abs.out", unary<simd::abs>, portable)
VITRINE_OPTIMIZED_KERNEL(ceil_out, "aten::ceil.out", unary<simd::ceil>, portable)
VITRINE_OPTIMIZED_KERNEL(clamp_out, "aten::clamp.out", clamp_out, portable)
VITRINE_OPTIMIZED_KERNEL(cos_out, "aten::cos.out", cos_out, portable)
VITRINE_OPTIMIZED_KERNEL(elu_out, "aten::elu.out", elu_out, portable)
VITRINE_OPTIMIZED_KERNEL(erf_out, "aten::erf.out", unary<simd::erf>, portable)
VITRINE_OPTIMIZED_KERNEL(exp_out, "aten::exp.out", unary<simd::exp>, portable)
VITRINE_OPTIMIZED_KERNEL(expm1_out, "aten::expm1.out", unary<simd::expm1>, portable)
VITRINE_OPTIMIZED_KERNEL(floor_out, "aten::floor.out", unary<simd::floor>, portable)
VITRINE_OPTIMIZED_KERNEL(gelu_out, "aten::gelu.out", gelu_out, portable)
VITRINE_OPTIMIZED_KERNEL(hardtanh_out, "aten::hardtanh.out", clamp, portable)
VITRINE_OPTIMIZED_KERNEL(leaky_relu_out, "aten::leaky_relu.out", leaky_relu_out, portable)
VITRINE_OPTIMIZED_KERNEL(log1p_out, "aten::log1p.out", unary<simd::log1p>, portable)
VITRINE_OPTIMIZED_KERNEL(log_out, "aten::log.out", unary<simd::log>, portable)
VITRINE_OPTIMIZED_KERNEL(neg_out, "aten::neg.out", unary<simd::neg>, portable)
VITRINE_OPTIMIZED_KERNEL(pow_Tensor_Scalar_out, "aten::pow.Tensor_Scalar_out",
                         pow_tensor_scalar_out, portable)
VITRINE_OPTIMIZED_KERNEL(reciprocal_out, "aten::reciprocal.out", unary<simd::reciprocal>, portable)
VITRINE_OPTIMIZED_KERNEL(relu_out, "aten::relu.out", unary<simd::relu>, portable)
VITRINE_OPTIMIZED_KERNEL(round_out, "aten::round.out", unary<simd::round>, portable)
VITRINE_OPTIMIZED_KERNEL(rsqrt_out, "aten::rsqrt.out", unary<simd::rsqrt>, portable)
VITRINE_OPTIMIZED_KERNEL(sigmoid_out, "aten::sigmoid.out", unary<simd::sigmoid>, portable)
VITRINE_OPTIMIZED_KERNEL(sin_out, "aten::sin.out", sin_out, portable)
VITRINE_OPTIMIZED_KERNEL(sqrt_out, "aten::sqrt.out", unary<simd::sqrt>, portable)
VITRINE_OPTIMIZED_KERNEL(tanh_out, "aten::tanh.out", unary<simd::tanh>, portable)
VITRINE_OPTIMIZED_KERNEL(trunc_out, "aten::trunc.out", unary<simd::trunc>, portable)
