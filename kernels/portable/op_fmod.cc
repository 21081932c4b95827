// The remainder has the sign of the dividend.
#include "kernels/util/arithmetic.h"
#include "kernels/util/division.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kFmod = [](auto a, auto b) { return fmod_trunc(a, b); };

void fmod_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  divide_checked(context, self, other, out, kFmod);
}

void fmod_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  divide_checked(context, self, other, out, kFmod);
}

}  // namespace

VITRINE_KERNEL(fmod_Scalar_out, "aten::fmod.Scalar_out", fmod_scalar_out);
VITRINE_KERNEL(fmod_Tensor_out, "aten::fmod.Tensor_out", fmod_tensor_out);

}  // namespace vitrine::portable
