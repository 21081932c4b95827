#include <type_traits>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
T rectified(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return x < 0 ? T(0) : x;  // NaN stays NaN
  }
}

void relu_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out, [](auto x) { return rectified(x); });
}

}  // namespace

VITRINE_KERNEL(relu_out, "aten::relu.out", relu_out);

}  // namespace vitrine::portable
