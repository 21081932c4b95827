#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/scalar_value.h"

namespace vitrine::optimized {

namespace {

template <simd::Run (*run)(), class Other, bool returns_bool = false>
bool binary_out(KernelContext& context, const Tensor& self, const Other& other, Tensor& out) {
  return binary(context, {.run = run(), .returns_bool = returns_bool}, self, other, out);
}

// The result is self + alpha * other or self - alpha * other.
template <simd::Run (*plain)(), simd::Run (*scaled)(), class Other>
bool scaled_out(KernelContext& context, const Tensor& self, const Other& other, const Scalar& alpha,
                Tensor& out) {
  if (!fits(alpha, self.dtype())) return false;
  const auto scale = alpha.to<float>();
  return binary(context, {scale == 1.0F ? plain() : scaled(), {scale}}, self, other, out);
}

// The result is other - alpha * self.
bool rsub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                     const Scalar& alpha, Tensor& out) {
  if (promote(self.dtype(), other) != self.dtype() || !fits(alpha, self.dtype()) ||
      !fits(other, self.dtype())) {
    return false;
  }
  return elementwise(context, {simd::scaled_sub(), {alpha.to<float>()}}, self.dtype(),
                     {other.to<float>(), self}, out);
}

bool where_out(KernelContext& context, const Tensor& condition, const Tensor& self,
               const Tensor& other, Tensor& out) {
  return self.dtype() == other.dtype() &&
         elementwise(context, {.run = simd::where(), .first_is_bool = true}, self.dtype(),
                     {condition, self, other}, out);
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(add_Scalar_out, "aten::add.Scalar_out",
                         (scaled_out<simd::add, simd::scaled_add, Scalar>), portable)
VITRINE_OPTIMIZED_KERNEL(add_out, "aten::add.out",
                         (scaled_out<simd::add, simd::scaled_add, Tensor>), portable)
VITRINE_OPTIMIZED_KERNEL(div_Scalar_out, "aten::div.Scalar_out", (binary_out<simd::div, Scalar>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(div_out, "aten::div.out", (binary_out<simd::div, Tensor>), portable)
VITRINE_OPTIMIZED_KERNEL(maximum_out, "aten::maximum.out", (binary_out<simd::maximum, Tensor>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(minimum_out, "aten::minimum.out", (binary_out<simd::minimum, Tensor>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(mul_Scalar_out, "aten::mul.Scalar_out", (binary_out<simd::mul, Scalar>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(mul_out, "aten::mul.out", (binary_out<simd::mul, Tensor>), portable)
VITRINE_OPTIMIZED_KERNEL(rsub_Scalar_out, "aten::rsub.Scalar_out", rsub_scalar_out, portable)
VITRINE_OPTIMIZED_KERNEL(sub_Scalar_out, "aten::sub.Scalar_out",
                         (scaled_out<simd::sub, simd::scaled_sub, Scalar>), portable)
VITRINE_OPTIMIZED_KERNEL(sub_out, "aten::sub.out",
                         (scaled_out<simd::sub, simd::scaled_sub, Tensor>), portable)
VITRINE_OPTIMIZED_KERNEL(where_self_out, "aten::where.self_out", where_out, portable)
VITRINE_OPTIMIZED_KERNEL(eq_Scalar_out, "aten::eq.Scalar_out", (binary_out<simd::eq, Scalar, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(eq_Tensor_out, "aten::eq.Tensor_out", (binary_out<simd::eq, Tensor, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(ge_Scalar_out, "aten::ge.Scalar_out", (binary_out<simd::ge, Scalar, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(ge_Tensor_out, "aten::ge.Tensor_out", (binary_out<simd::ge, Tensor, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(gt_Scalar_out, "aten::gt.Scalar_out", (binary_out<simd::gt, Scalar, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(gt_Tensor_out, "aten::gt.Tensor_out", (binary_out<simd::gt, Tensor, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(le_Scalar_out, "aten::le.Scalar_out", (binary_out<simd::le, Scalar, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(le_Tensor_out, "aten::le.Tensor_out", (binary_out<simd::le, Tensor, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(lt_Scalar_out, "aten::lt.Scalar_out", (binary_out<simd::lt, Scalar, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(lt_Tensor_out, "aten::lt.Tensor_out", (binary_out<simd::lt, Tensor, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(ne_Scalar_out, "aten::ne.Scalar_out", (binary_out<simd::ne, Scalar, true>),
                         portable)
VITRINE_OPTIMIZED_KERNEL(ne_Tensor_out, "aten::ne.Tensor_out", (binary_out<simd::ne, Tensor, true>),
                         portable)
