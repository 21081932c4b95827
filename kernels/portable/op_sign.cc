// NaN gives 0.
#include <type_traits>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
T sign_of(T x) {
  if constexpr (std::is_unsigned_v<T>) {  // and bool
    return static_cast<T>(x != 0);
  } else {
    return static_cast<T>((x > 0) - (x < 0));
  }
}

void sign_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealBTypes>(context, self, out, [](auto x) { return sign_of(x); });
}

}  // namespace

VITRINE_KERNEL(sign_out, "aten::sign.out", sign_out);

}  // namespace vitrine::portable
