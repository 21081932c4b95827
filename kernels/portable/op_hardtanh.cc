#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/scalar_value.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void hardtanh_out(KernelContext& context, const Tensor& self, const Scalar& min_val,
                  const Scalar& max_val, Tensor& out) {
  if (!check_scalar(context, min_val, self.dtype(), "min_val") ||
      !check_scalar(context, max_val, self.dtype(), "max_val")) {
    return;
  }
  dispatch<RealTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    const T low = min_val.to<T>();
    const T high = max_val.to<T>();
    elementwise<T, T>(context, self.dtype(), {&self}, out,
                      [=](T x) { return clamped(x, low, high); });
  });
}

}  // namespace

VITRINE_KERNEL(hardtanh_out, "aten::hardtanh.out", hardtanh_out);

}  // namespace vitrine::portable
