#include <limits>
#include <optional>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/scalar_value.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
constexpr T kLowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::lowest();
template <class T>
constexpr T kHighest = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                   : std::numeric_limits<T>::max();

void clamp_out(KernelContext& context, const Tensor& self, std::optional<Scalar> min,
               std::optional<Scalar> max, Tensor& out) {
  if (!min && !max) {
    return context.fail(ErrorCode::kInvalidArgument, "neither min nor max is given");
  }
  ScalarType common = self.dtype();
  if (min) common = promote(common, *min);
  if (max) common = promote(common, *max);
  if ((min && !check_scalar(context, *min, common, "min")) ||
      (max && !check_scalar(context, *max, common, "max"))) {
    return;
  }
  dispatch<RealBTypes>(context, compute_type(common), [&]<class T>() {
    const T low = min ? min->to<T>() : kLowest<T>;
    const T high = max ? max->to<T>() : kHighest<T>;
    elementwise<T, T>(context, common, {&self}, out,
                      [=](T x) { return smaller(larger(x, low), high); });
  });
}

void clamp_tensor_out(KernelContext& context, const Tensor& self, const Tensor* min,
                      const Tensor* max, Tensor& out) {
  if (min == nullptr && max == nullptr) {
    return context.fail(ErrorCode::kInvalidArgument, "neither min nor max is given");
  }
  constexpr auto kBelow = [](auto x, auto high) { return smaller(x, high); };
  constexpr auto kAbove = [](auto x, auto low) { return larger(x, low); };
  if (min == nullptr) return binary<RealBTypes>(context, self, *max, out, kBelow);
  if (max == nullptr) return binary<RealBTypes>(context, self, *min, out, kAbove);
  const std::optional<ScalarType> bounds = promote(context, *min, *max);
  if (!bounds) return;
  const std::optional<ScalarType> common = promote_types(self.dtype(), *bounds);
  if (!common) return fail_unsupported_dtype(context, self.dtype());
  dispatch<RealBTypes>(context, compute_type(*common), [&]<class T>() {
    elementwise<T, T, T, T>(context, *common, {&self, min, max}, out,
                            [](T x, T low, T high) { return smaller(larger(x, low), high); });
  });
}

}  // namespace

VITRINE_KERNEL(clamp_Tensor_out, "aten::clamp.Tensor_out", clamp_tensor_out);
VITRINE_KERNEL(clamp_out, "aten::clamp.out", clamp_out);

}  // namespace vitrine::portable
