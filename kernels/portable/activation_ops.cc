// Element-wise operators with parameters, such as clamp and gelu, and the operator glu.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>

#include "kernels/util/along_dim.h"
#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/scalar_value.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void leaky_relu_out(KernelContext& context, const Tensor& self, const Scalar& negative_slope,
                    Tensor& out) {
  if (!check_scalar(context, negative_slope, self.dtype(), "negative_slope")) return;
  const double slope = negative_slope.to<double>();
  unary_floating(context, self, out,
                 [slope](auto x) { return x > 0 ? x : x * static_cast<decltype(x)>(slope); });
}

// Computes scale * (x > 0 ? x : alpha * (exp(input_scale * x) - 1)).
void elu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, const Scalar& scale,
             const Scalar& input_scale, Tensor& out) {
  const double positive = scale.to<double>();
  const double negative = alpha.to<double>() * positive;
  const double inner = input_scale.to<double>();
  unary_floating(context, self, out, [=](auto x) {
    using T = decltype(x);
    return x > 0 ? x * static_cast<T>(positive)
                 : std::expm1(x * static_cast<T>(inner)) * static_cast<T>(negative);
  });
}

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

template <class T>
constexpr T kClampMin = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::lowest();
template <class T>
constexpr T kClampMax = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::max();

void clamp_out(KernelContext& context, const Tensor& self, std::optional<Scalar> min,
               std::optional<Scalar> max, Tensor& out) {
  if (!min && !max) {
    return context.fail(ErrorCode::kInvalidArgument, "min and max are both missing");
  }
  ScalarType common = self.dtype();
  if (min) common = promote(common, *min);
  if (max) common = promote(common, *max);
  if ((min && !check_scalar(context, *min, common, "min")) ||
      (max && !check_scalar(context, *max, common, "max"))) {
    return;
  }
  dispatch<RealBTypes>(context, compute_type(common), [&]<class T>() {
    const T low = min ? min->to<T>() : kClampMin<T>;
    const T high = max ? max->to<T>() : kClampMax<T>;
    elementwise<T, T>(context, common, {&self}, out,
                      [=](T x) { return smaller(larger(x, low), high); });
  });
}

void clamp_tensor_out(KernelContext& context, const Tensor& self, const Tensor* min,
                      const Tensor* max, Tensor& out) {
  if (min == nullptr && max == nullptr) {
    return context.fail(ErrorCode::kInvalidArgument, "min and max are both missing");
  }
  constexpr auto kLimitAbove = [](auto x, auto high) { return smaller(x, high); };
  constexpr auto kLimitBelow = [](auto x, auto low) { return larger(x, low); };
  if (min == nullptr) return binary<RealBTypes>(context, self, *max, out, kLimitAbove);
  if (max == nullptr) return binary<RealBTypes>(context, self, *min, out, kLimitBelow);
  const std::optional<ScalarType> bounds = promote(context, *min, *max);
  if (!bounds) return;
  const std::optional<ScalarType> common = promote_types(self.dtype(), *bounds);
  if (!common) return fail_unsupported_dtype(context, self.dtype());
  dispatch<RealBTypes>(context, compute_type(*common), [&]<class T>() {
    elementwise<T, T, T, T>(context, *common, {&self, min, max}, out,
                            [](T x, T low, T high) { return smaller(larger(x, low), high); });
  });
}

// Computes log(x / (1 - x)). Clamps x to [eps, 1 - eps] if eps is given.
void logit_out(KernelContext& context, const Tensor& self, std::optional<double> eps, Tensor& out) {
  if (!eps) {
    return unary_float(context, self, out, [](auto x) { return std::log(x / (1 - x)); });
  }
  unary_float(context, self, out, [epsilon = *eps](auto x) {
    using T = decltype(x);
    const T low = static_cast<T>(epsilon);
    const T limited = clamped(x, low, T(1) - low);
    return std::log(limited / (1 - limited));
  });
}

// The Gaussian error linear unit, exact or approximated with tanh.
template <class T>
T gelu_exact(T x) {
  return x * T(0.5) * (T(1) + std::erf(x / std::numbers::sqrt2_v<T>));
}

template <class T>
T gelu_tanh(T x) {
  constexpr T kScale = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  return x * T(0.5) * (T(1) + std::tanh(kScale * (x + T(0.044715) * x * x * x)));
}

void gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate,
              Tensor& out) {
  if (approximate == "none") {
    unary_floating(context, self, out, [](auto x) { return gelu_exact(x); });
  } else if (approximate == "tanh") {
    unary_floating(context, self, out, [](auto x) { return gelu_tanh(x); });
  } else {
    context.fail(ErrorCode::kInvalidArgument,
                 "approximate is \"%.*s\", expected \"none\" or \"tanh\"",
                 static_cast<int>(std::min<size_t>(approximate.size(), 40)), approximate.data());
  }
}

// Computes a * sigmoid(b), where a and b are the two halves of `self` along a dimension.
template <class T>
void gate(const Tensor& self, size_t dim, Tensor& out) {
  using C = Compute<T>;
  const LineNest nest(out, dim);
  const std::array<int64_t, kMaxRank> out_strides = line_strides(out, dim);
  const std::array<int64_t, kMaxRank> in_strides = line_strides(self, dim);
  const BoxLoop<2> loop(nest.shape(), {out_strides.data(), in_strides.data()});
  const int64_t half = out.size(dim);
  const int64_t in_stride = self.strides()[dim];
  const int64_t out_stride = out.strides()[dim];
  loop.run({}, [&](const BoxLoop<2>::Offsets& first, int64_t lines) {
    for (int64_t line = 0; line < lines; ++line) {
      T* to = out.unchecked_mutable_data<T>() + first[0] + line * loop.row_stride(0);
      const T* a = self.unchecked_data<T>() + first[1] + line * loop.row_stride(1);
      const T* b = a + half * in_stride;
      for (int64_t i = 0; i < half; ++i) {
        const C gate_value = C(1) / (C(1) + std::exp(-static_cast<C>(b[i * in_stride])));
        to[i * out_stride] = static_cast<T>(static_cast<C>(a[i * in_stride]) * gate_value);
      }
    }
  });
}

void glu_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along || !check_dtype(context, out, self.dtype(), "out")) return;
  if (self.rank() == 0 || self.size(*along) % 2 != 0) {
    return context.fail(ErrorCode::kInvalidArgument, "dimension %zu of self must have an even size",
                        *along);
  }
  if (&self == &out) {
    return context.fail(ErrorCode::kInvalidArgument, "out must not be self");
  }
  std::array<int32_t, kMaxRank> sizes;
  std::copy(self.sizes().begin(), self.sizes().end(), sizes.begin());
  sizes[*along] /= 2;
  if (!context.resize(out, {sizes.data(), self.rank()}) || out.numel() == 0) return;
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() { gate<T>(self, *along, out); });
}

}  // namespace

VITRINE_KERNEL(leaky_relu_out, "aten::leaky_relu.out", leaky_relu_out);
VITRINE_KERNEL(elu_out, "aten::elu.out", elu_out);
VITRINE_KERNEL(hardtanh_out, "aten::hardtanh.out", hardtanh_out);
VITRINE_KERNEL(clamp_Tensor_out, "aten::clamp.Tensor_out", clamp_tensor_out);
VITRINE_KERNEL(clamp_out, "aten::clamp.out", clamp_out);
VITRINE_KERNEL(logit_out, "aten::logit.out", logit_out);
VITRINE_KERNEL(gelu_out, "aten::gelu.out", gelu_out);
VITRINE_KERNEL(glu_out, "aten::glu.out", glu_out);

}  // namespace vitrine::portable
