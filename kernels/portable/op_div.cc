#include <algorithm>
#include <optional>
#include <string_view>

#include "kernels/util/arithmetic.h"
#include "kernels/util/division.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kQuotient = [](auto a, auto b) { return a / b; };

template <class Other>
void divide(KernelContext& context, const Tensor& self, const Other& other,
            std::optional<std::string_view> mode, Tensor& out) {
  if (!mode) {
    binary_float(context, self, other, out, kQuotient);
  } else if (*mode == "trunc") {
    divide_checked(context, self, other, out, [](auto a, auto b) { return divide_trunc(a, b); });
  } else if (*mode == "floor") {
    divide_checked(context, self, other, out, [](auto a, auto b) { return divide_floor(a, b); });
  } else {
    context.fail(ErrorCode::kInvalidArgument, "rounding_mode is \"%.*s\", not trunc or floor",
                 static_cast<int>(std::min<size_t>(mode->size(), 40)), mode->data());
  }
}

void div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  binary_float(context, self, other, out, kQuotient);
}

void div_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  binary_float(context, self, other, out, kQuotient);
}

}  // namespace

VITRINE_KERNEL(div_Scalar_mode_out, "aten::div.Scalar_mode_out", divide<Scalar>);
VITRINE_KERNEL(div_Scalar_out, "aten::div.Scalar_out", div_scalar_out);
VITRINE_KERNEL(div_out, "aten::div.out", div_out);
VITRINE_KERNEL(div_out_mode, "aten::div.out_mode", divide<Tensor>);

}  // namespace vitrine::portable
