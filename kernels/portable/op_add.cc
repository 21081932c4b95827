// self + alpha * other
#include "kernels/util/scaled_sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kAdd = [](auto a, auto b, auto alpha) {
  return wrapping_add(a, wrapping_mul(alpha, b));
};

void add_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
             Tensor& out) {
  scaled_sum<RealBTypes>(context, self, other, alpha, out, kAdd);
}

void add_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                    const Scalar& alpha, Tensor& out) {
  scaled_sum<RealBTypes>(context, self, other, alpha, out, kAdd);
}

}  // namespace

VITRINE_KERNEL(add_Scalar_out, "aten::add.Scalar_out", add_scalar_out);
VITRINE_KERNEL(add_out, "aten::add.out", add_out);

}  // namespace vitrine::portable
