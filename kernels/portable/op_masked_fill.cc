#include "kernels/util/checks.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                            const Scalar& value, Tensor& out) {
  if (!check_dtype(context, mask, ScalarType::kBool, "mask")) return;
  dispatch<RealBTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    const T fill = value.to<T>();
    elementwise<T, T, bool>(context, self.dtype(), {&self, &mask}, out,
                            [fill](T x, bool masked) { return masked ? fill : x; });
  });
}

}  // namespace

VITRINE_KERNEL(masked_fill_Scalar_out, "aten::masked_fill.Scalar_out", masked_fill_scalar_out);

}  // namespace vitrine::portable
