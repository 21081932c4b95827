// Computes the exponential, sine and cosine in f32.
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/elementwise.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

template <xnn_unary_operator kFunction>
bool is_function(const xnn_operator& op) {
  return is_unary(op, kFunction);
}

template <xnn_unary_operator kFunction>
void compute_function(size_t bytes, const void* in, void* out, const xnn_unary_uparams*) {
  const auto count = static_cast<int64_t>(bytes / sizeof(float));
  const float parameters[] = {kFunction == xnn_unary_cosine ? 1.0F : 0.0F, 0, 0};
  const simd::Run run = kFunction == xnn_unary_exp ? simd::exp() : simd::sine();
  run(&in, parameters, out, count, count);
}

template <xnn_unary_operator kFunction>
void use_function(xnn_operator& op, const std::byte*) {
  use_unary_kernel(op, &compute_function<kFunction>);
}

template <xnn_unary_operator kFunction>
constexpr Replacement replacement(const char* name) {
  return {name, &is_function<kFunction>, &use_function<kFunction>};
}

}  // namespace

const Replacement kExponential = replacement<xnn_unary_exp>("Vitrine Exponential (NC, F32)");
const Replacement kSine = replacement<xnn_unary_sine>("Vitrine Sine (NC, F32)");
const Replacement kCosine = replacement<xnn_unary_cosine>("Vitrine Cosine (NC, F32)");

}  // namespace vitrine::xnnpack::own_kernels
