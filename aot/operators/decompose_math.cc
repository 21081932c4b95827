#include <cmath>
#include <limits>
#include <numbers>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns operand `index`, converted to the dtype of the result.
Node* operand(Decomposition& to, size_t index) {
  const Argument argument = to.operand(index);
  if (argument.is_none()) to.refuse("an operand is missing");
  const ScalarType dtype = to.spec().dtype;
  const bool is_tensor = argument.node() != nullptr && argument.node()->tensor() != nullptr;
  return is_tensor ? to.convert(argument.node(), dtype) : to.scalar(argument, dtype);
}

// Computes log_b(b^x + b^y) for b = 2 or b = e. Factors out the larger exponent to avoid overflow.
template <bool binary>
void log_add_exp(Decomposition& to) {
  Node* a = operand(to, 0);
  Node* b = operand(to, 1);
  Node* is_first = to.compare("ge", a, b);
  Node* larger = to.where(is_first, a, b);
  Node* distance = to.sub(to.where(is_first, b, a), larger);
  Node* rest = nullptr;
  if (binary) {
    rest = to("log1p", to.make("aten.pow.Scalar", {2.0, distance}));
    rest = to.mul(rest, 1 / std::numbers::ln2);
  } else {
    rest = to("log1p", to("exp", distance));
  }
  // If both operands are the same infinity, `distance` is NaN, but the result is this infinity.
  Node* is_same = to("logical_and", to("isinf", a), to.compare("eq", a, b));
  to.replace(to.where(is_same, a, to.add(larger, rest)));
}

// Computes x log(y). The result is 0 where x is 0 and y is not NaN.
template <bool plus_one>
void x_log_y(Decomposition& to) {
  Node* x = operand(to, 0);
  Node* y = operand(to, 1);
  Node* product = to.mul(x, to(plus_one ? "log1p" : "log", y));
  Node* result = to.where(to.compare("eq", x, 0), 0, product);
  to.replace(to.where(to("isnan", y), kNan, result));
}

}  // namespace

// Computes the entropy -x log(x), which is 0 at x = 0 and -inf for x < 0.
void entropy(Decomposition& to) {
  Node* x = operand(to, 0);
  Node* curve = to("neg", to.mul(x, to("log", x)));
  Node* is_zero = to.compare("eq", x, 0);
  Node* rest =
      to.where(is_zero, to.scalar(0, to.spec().dtype), to.scalar(-kInfinity, to.spec().dtype));
  Node* result = to.where(to.compare("gt", x, 0), curve, rest);
  to.replace(to.where(to("isnan", x), x, result));
}

// Multiplies the gradient by (1 - y) y, the derivative of the sigmoid in terms of its result y.
void sigmoid_gradient(Decomposition& to) {
  Node* y = operand(to, 1);
  to.replace(to.mul(to.mul(operand(to, 0), to.sub(1, y)), y));
}

void sinc(Decomposition& to) {
  Node* x = to.mul(operand(to, 0), std::numbers::pi);
  to.replace(to.where(to.compare("eq", x, 0), 1, to.div(to("sin", x), x)));
}

// Computes the cumulative distribution function of the normal distribution.
void normal_distribution(Decomposition& to) {
  Node* x = to.mul(operand(to, 0), -std::numbers::sqrt2 / 2);
  to.replace(to.mul(to("erfc", x), 0.5));
}

namespace {

template <bool to_radians>
void convert_angle(Decomposition& to) {
  constexpr double kFactor = to_radians ? std::numbers::pi / 180 : 180 / std::numbers::pi;
  to.replace(to.mul(operand(to, 0), kFactor));
}

}  // namespace

void hypotenuse(Decomposition& to) {
  Node* a = to("abs", operand(to, 0));
  Node* b = to("abs", operand(to, 1));
  // Factors out the larger magnitude, so that the squares do not overflow.
  Node* larger = to("maximum", a, b);
  Node* ratio = to.div(to("minimum", a, b), larger);
  Node* length = to.mul(larger, to("sqrt", to.add(to.mul(ratio, ratio), 1)));
  length = to.where(to.compare("eq", larger, 0), 0, length);
  // If one operand is infinite, the result is infinite even if the other operand is NaN.
  Node* is_infinite = to("logical_or", to("isinf", a), to("isinf", b));
  to.replace(to.where(is_infinite, kInfinity, length));
}

// Computes the Heaviside step: 0 if x < 0, 1 if x > 0, and `values` if x is 0.
void heaviside(Decomposition& to) {
  Node* x = operand(to, 0);
  const ScalarType dtype = to.spec().dtype;
  Node* is_low = to("logical_or", to.compare("lt", x, 0), to("isnan", x));
  Node* step = to.where(is_low, to.scalar(0, dtype), to.scalar(1, dtype));
  to.replace(to.where(to.compare("eq", x, 0), operand(to, 1), step));
}

void angle(Decomposition& to) {
  Node* x = operand(to, 0);
  Node* result =
      to.where(to.compare("lt", x, 0), to.scalar(std::numbers::pi, x->tensor()->dtype), 0);
  to.replace(to.where(to("isnan", x), x, result));
}

namespace {

// True for negative numbers, including -0.
Node* is_negative(Decomposition& to, Node* x) {
  Node* below = to.compare("lt", x, 0);
  if (!is_floating(x->tensor()->dtype)) return below;
  return to("logical_or", below, to.compare("lt", to("reciprocal", x), 0));
}

}  // namespace

void sign_bit(Decomposition& to) { to.replace(is_negative(to, to.self())); }

void copy_sign(Decomposition& to) {
  Node* magnitude = to("abs", operand(to, 0));
  to.replace(to.where(is_negative(to, operand(to, 1)), to("neg", magnitude), magnitude));
}

namespace {

// Computes fmax or fmin: the maximum or minimum of two operands, ignoring NaN.
template <bool larger>
void extreme_number(Decomposition& to) {
  Node* a = operand(to, 0);
  Node* b = operand(to, 1);
  Node* both = to(larger ? "maximum" : "minimum", a, b);
  Node* result = to.where(to("isnan", b), a, both);
  to.replace(to.where(to("isnan", a), b, result));
}

template <bool positive>
void is_infinite_to(Decomposition& to) {
  to.replace(to.compare("eq", to.self(), positive ? kInfinity : -kInfinity));
}

}  // namespace

// Computes isclose: true if |a - b| <= atol + rtol |b|.
void is_close(Decomposition& to) {
  Node* a = to.self();
  Node* b = to.tensor("other");
  Node* result = to.compare("eq", a, b);
  if (to.boolean("equal_nan")) {
    result = to("logical_or", result, to("logical_and", to("isnan", a), to("isnan", b)));
  }
  Node* allowed = to.add(to("abs", to.mul(b, to.number("rtol"))), to.number("atol"));
  Node* distance = to("abs", to.sub(a, b));
  Node* is_near = to("logical_and", to("isfinite", distance), to.compare("le", distance, allowed));
  to.replace(to("logical_or", result, is_near));
}

void float_power(Decomposition& to) {
  const std::string_view overload = to.node().target().overload();
  const auto wide = [&](size_t index) -> Argument {
    const Argument argument = to.operand(index);
    const bool is_tensor = argument.node() != nullptr && argument.node()->tensor() != nullptr;
    return is_tensor ? Argument(to.convert(argument.node(), ScalarType::kDouble)) : argument;
  };
  to.replace(to.make(overload == "Scalar"          ? "aten.pow.Scalar"
                     : overload == "Tensor_Scalar" ? "aten.pow.Tensor_Scalar"
                                                   : "aten.pow.Tensor_Tensor",
                     {wide(0), wide(1)}));
}

void scale_by_power_of_two(Decomposition& to) {
  to.replace(to.mul(to.self(), to.make("aten.pow.Scalar", {2.0, to.tensor("other")})));
}

void round_decimals(Decomposition& to) {
  const int64_t decimals = to.integer("decimals");
  if (decimals > 300 || decimals < -300) to.refuse("decimals must be from -300 to 300");
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  Node* x = to.self();
  if (decimals == 0) return to.replace(to("round", x));
  if (decimals > 0) return to.replace(to.div(to("round", to.mul(x, scale)), scale));
  to.replace(to.mul(to("round", to.div(x, scale)), scale));
}

void clamp_by_tensor(Decomposition& to) {
  const bool is_min = to.node().target().op() == "clamp_min";
  const Argument bound = to.arg(is_min ? "min" : "max");
  to.replace(to.make("aten.clamp.Tensor", is_min ? ArgumentList{to.self(), bound}
                                                 : ArgumentList{to.self(), Argument(), bound}));
}

void greater_number(Decomposition& to) { extreme_number<true>(to); }
void is_negative_infinity(Decomposition& to) { is_infinite_to<false>(to); }
void is_positive_infinity(Decomposition& to) { is_infinite_to<true>(to); }
void lesser_number(Decomposition& to) { extreme_number<false>(to); }
void log_add_exp(Decomposition& to) { log_add_exp<false>(to); }
void log_add_exp2(Decomposition& to) { log_add_exp<true>(to); }
void to_degrees(Decomposition& to) { convert_angle<false>(to); }
void to_radians(Decomposition& to) { convert_angle<true>(to); }
void x_log1p_y(Decomposition& to) { x_log_y<true>(to); }
void x_log_y(Decomposition& to) { x_log_y<false>(to); }

}  // namespace vitrine::aot::decompositions
