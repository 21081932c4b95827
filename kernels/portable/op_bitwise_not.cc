#include <type_traits>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
T inverted(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~x);
  }
}

void bitwise_not_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<IntBoolTypes>(context, self, out, [](auto x) { return inverted(x); });
}

}  // namespace

VITRINE_KERNEL(bitwise_not_out, "aten::bitwise_not.out", bitwise_not_out);

}  // namespace vitrine::portable
