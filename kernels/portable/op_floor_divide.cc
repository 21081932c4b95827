#include "kernels/util/arithmetic.h"
#include "kernels/util/division.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void floor_divide_out(KernelContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  divide_checked(context, self, other, out, [](auto a, auto b) { return divide_floor(a, b); });
}

}  // namespace

VITRINE_KERNEL(floor_divide_out, "aten::floor_divide.out", floor_divide_out);

}  // namespace vitrine::portable
