// Decompositions of functions that are computed element by element.
#include <cmath>
#include <limits>
#include <numbers>

#include "aot/passes/call_builder.h"
#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An argument in the dtype that the result has.
Node* operand(Decomposition& to, size_t index) {
  const Argument given = to.operand(index);
  if (given.is_none()) to.refuse("an operand is missing");
  const ScalarType dtype = to.spec().dtype;
  const bool is_tensor = given.node() != nullptr && given.node()->tensor() != nullptr;
  return is_tensor ? to.convert(given.node(), dtype) : to.scalar(given, dtype);
}

// log(b^x + b^y), with the larger taken out so that nothing overflows.
template <bool binary>
void log_add_exp(Decomposition& to) {
  const Calls f(to);
  Node* a = operand(to, 0);
  Node* b = operand(to, 1);
  Node* is_first = f.compare("ge", a, b);
  Node* larger = f.where(is_first, a, b);
  Node* distance = f.sub(f.where(is_first, b, a), larger);
  Node* rest = nullptr;
  if (binary) {
    rest = f("log1p", to.make("aten.pow.Scalar", {2.0, distance}));
    rest = f.mul(rest, 1 / std::numbers::ln2);
  } else {
    rest = f("log1p", f("exp", distance));
  }
  // Two equal infinities give that infinity, since their difference is NaN.
  Node* is_same = f("logical_and", f("isinf", a), f.compare("eq", a, b));
  to.replace(f.where(is_same, a, f.add(larger, rest)));
}

// x log(y), but 0 where x is 0, unless y is NaN.
template <bool plus_one>
void x_log_y(Decomposition& to) {
  const Calls f(to);
  Node* x = operand(to, 0);
  Node* y = operand(to, 1);
  Node* product = f.mul(x, f(plus_one ? "log1p" : "log", y));
  Node* result = f.where(f.compare("eq", x, 0), 0, product);
  to.replace(f.where(f("isnan", y), kNan, result));
}

}  // namespace

// -x log(x); 0 at 0, -inf below.
void entropy(Decomposition& to) {
  const Calls f(to);
  Node* x = operand(to, 0);
  Node* curve = f("neg", f.mul(x, f("log", x)));
  Node* is_zero = f.compare("eq", x, 0);
  Node* rest =
      f.where(is_zero, to.scalar(0, to.spec().dtype), to.scalar(-kInfinity, to.spec().dtype));
  Node* result = f.where(f.compare("gt", x, 0), curve, rest);
  to.replace(f.where(f("isnan", x), x, result));
}

// sin(pi x) / (pi x)
void sinc(Decomposition& to) {
  const Calls f(to);
  Node* x = f.mul(operand(to, 0), std::numbers::pi);
  to.replace(f.where(f.compare("eq", x, 0), 1, f.div(f("sin", x), x)));
}

// The area of the normal curve below x.
void normal_distribution(Decomposition& to) {
  const Calls f(to);
  Node* x = f.mul(operand(to, 0), -std::numbers::sqrt2 / 2);
  to.replace(f.mul(f("erfc", x), 0.5));
}

namespace {

template <bool to_radians>
void turn(Decomposition& to) {
  const Calls f(to);
  constexpr double kFactor = to_radians ? std::numbers::pi / 180 : 180 / std::numbers::pi;
  to.replace(f.mul(operand(to, 0), kFactor));
}

}  // namespace

void hypotenuse(Decomposition& to) {
  const Calls f(to);
  Node* a = f("abs", operand(to, 0));
  Node* b = f("abs", operand(to, 1));
  // Factors out the larger one, so that squares do not overflow.
  Node* larger = f("maximum", a, b);
  Node* ratio = f.div(f("minimum", a, b), larger);
  Node* length = f.mul(larger, f("sqrt", f.add(f.mul(ratio, ratio), 1)));
  length = f.where(f.compare("eq", larger, 0), 0, length);
  // If one operand is infinite, the result is infinite even if the other is NaN.
  Node* is_infinite = f("logical_or", f("isinf", a), f("isinf", b));
  to.replace(f.where(is_infinite, kInfinity, length));
}

// 0 below zero, 1 above, `values` at it.
void heaviside(Decomposition& to) {
  const Calls f(to);
  Node* x = operand(to, 0);
  const ScalarType dtype = to.spec().dtype;
  Node* is_low = f("logical_or", f.compare("lt", x, 0), f("isnan", x));
  Node* step = f.where(is_low, to.scalar(0, dtype), to.scalar(1, dtype));
  to.replace(f.where(f.compare("eq", x, 0), operand(to, 1), step));
}

// For real numbers: pi below zero.
void angle(Decomposition& to) {
  const Calls f(to);
  Node* x = operand(to, 0);
  Node* turned = f.where(f.compare("lt", x, 0), to.scalar(std::numbers::pi, x->tensor()->dtype), 0);
  to.replace(f.where(f("isnan", x), x, turned));
}

namespace {

// Whether a number has a minus, -0 included.
Node* has_minus(const Calls& f, Node* x) {
  Node* below = f.compare("lt", x, 0);
  if (!is_floating(x->tensor()->dtype)) return below;
  return f("logical_or", below, f.compare("lt", f("reciprocal", x), 0));
}

}  // namespace

void sign_bit(Decomposition& to) {
  const Calls f(to);
  to.replace(has_minus(f, to.self()));
}

void copy_sign(Decomposition& to) {
  const Calls f(to);
  Node* size = f("abs", operand(to, 0));
  to.replace(f.where(has_minus(f, operand(to, 1)), f("neg", size), size));
}

namespace {

// maximum and minimum that ignore NaN.
template <bool larger>
void extreme_number(Decomposition& to) {
  const Calls f(to);
  Node* a = operand(to, 0);
  Node* b = operand(to, 1);
  Node* both = f(larger ? "maximum" : "minimum", a, b);
  Node* result = f.where(f("isnan", b), a, both);
  to.replace(f.where(f("isnan", a), b, result));
}

template <bool positive>
void is_infinite_to(Decomposition& to) {
  const Calls f(to);
  to.replace(f.compare("eq", to.self(), positive ? kInfinity : -kInfinity));
}

}  // namespace

// |a - b| <= atol + rtol |b|
void is_close(Decomposition& to) {
  const Calls f(to);
  Node* a = to.self();
  Node* b = to.tensor("other");
  Node* result = f.compare("eq", a, b);
  if (to.boolean("equal_nan")) {
    result = f("logical_or", result, f("logical_and", f("isnan", a), f("isnan", b)));
  }
  Node* allowed = f.add(f("abs", f.mul(b, to.number("rtol"))), to.number("atol"));
  Node* distance = f("abs", f.sub(a, b));
  Node* is_near = f("logical_and", f("isfinite", distance), f.compare("le", distance, allowed));
  to.replace(f("logical_or", result, is_near));
}

void float_power(Decomposition& to) {
  const std::string_view overload = to.node().target().overload();
  const auto wide = [&](size_t index) -> Argument {
    const Argument given = to.operand(index);
    const bool is_tensor = given.node() != nullptr && given.node()->tensor() != nullptr;
    return is_tensor ? Argument(to.convert(given.node(), ScalarType::kDouble)) : given;
  };
  to.replace(to.make(overload == "Scalar"          ? "aten.pow.Scalar"
                     : overload == "Tensor_Scalar" ? "aten.pow.Tensor_Scalar"
                                                   : "aten.pow.Tensor_Tensor",
                     {wide(0), wide(1)}));
}

void scale_by_power_of_two(Decomposition& to) {
  const Calls f(to);
  to.replace(f.mul(to.self(), to.make("aten.pow.Scalar", {2.0, to.tensor("other")})));
}

void round_decimals(Decomposition& to) {
  const Calls f(to);
  const int64_t decimals = to.integer("decimals");
  if (decimals > 300 || decimals < -300) to.refuse("its decimals are too many");
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  Node* x = to.self();
  if (decimals == 0) return to.replace(f("round", x));
  if (decimals > 0) return to.replace(f.div(f("round", f.mul(x, scale)), scale));
  to.replace(f.mul(f("round", f.div(x, scale)), scale));
}

void clamp_by_tensor(Decomposition& to) {
  const bool is_least = to.node().target().op() == "clamp_min";
  const Argument bound = to.arg(is_least ? "min" : "max");
  to.replace(to.make("aten.clamp.Tensor", is_least ? ArgumentList{to.self(), bound}
                                                   : ArgumentList{to.self(), Argument(), bound}));
}

void greater_number(Decomposition& to) { extreme_number<true>(to); }
void is_negative_infinity(Decomposition& to) { is_infinite_to<false>(to); }
void is_positive_infinity(Decomposition& to) { is_infinite_to<true>(to); }
void lesser_number(Decomposition& to) { extreme_number<false>(to); }
void log_add_exp(Decomposition& to) { log_add_exp<false>(to); }
void log_add_exp2(Decomposition& to) { log_add_exp<true>(to); }
void to_degrees(Decomposition& to) { turn<false>(to); }
void to_radians(Decomposition& to) { turn<true>(to); }
void x_log1p_y(Decomposition& to) { x_log_y<true>(to); }
void x_log_y(Decomposition& to) { x_log_y<false>(to); }

}  // namespace vitrine::aot::decompositions
