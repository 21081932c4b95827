// The Gaussian error linear unit, exact or by its tanh approximation.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
T exact(T x) {
  return x * T(0.5) * (T(1) + std::erf(x / std::numbers::sqrt2_v<T>));
}

template <class T>
T approximated(T x) {
  constexpr T kScale = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  return x * T(0.5) * (T(1) + std::tanh(kScale * (x + T(0.044715) * x * x * x)));
}

void gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate,
              Tensor& out) {
  if (approximate == "none") {
    unary_floating(context, self, out, [](auto x) { return exact(x); });
  } else if (approximate == "tanh") {
    unary_floating(context, self, out, [](auto x) { return approximated(x); });
  } else {
    context.fail(ErrorCode::kInvalidArgument, "approximate is \"%.*s\", not none or tanh",
                 static_cast<int>(std::min<size_t>(approximate.size(), 40)), approximate.data());
  }
}

}  // namespace

VITRINE_KERNEL(gelu_out, "aten::gelu.out", gelu_out);

}  // namespace vitrine::portable
