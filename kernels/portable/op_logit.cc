// log(x / (1 - x)), x held to [eps, 1 - eps] if eps is given.
#include <cmath>
#include <optional>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void logit_out(KernelContext& context, const Tensor& self, std::optional<double> eps, Tensor& out) {
  if (!eps) {
    return unary_float(context, self, out, [](auto x) { return std::log(x / (1 - x)); });
  }
  unary_float(context, self, out, [epsilon = *eps](auto x) {
    using T = decltype(x);
    const T low = static_cast<T>(epsilon);
    const T held = clamped(x, low, T(1) - low);
    return std::log(held / (1 - held));
  });
}

}  // namespace

VITRINE_KERNEL(logit_out, "aten::logit.out", logit_out);

}  // namespace vitrine::portable
