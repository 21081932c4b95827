#include <algorithm>
#include <cmath>
#include <limits>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {

void floor_divide(Decomposition& to) {
  to.replace(to.call("aten.div.Tensor_mode", {to.self(), to.arg("other")}, to.spec(),
                     {{"rounding_mode", "floor"}}));
}

void masked_fill(Decomposition& to) {
  const TensorSpec& spec = to.spec();
  const Argument argument = to.arg("value");
  Node* value = argument.node() != nullptr && argument.node()->tensor() != nullptr
                    ? to.convert(argument.node(), spec.dtype)
                    : to.scalar(argument, spec.dtype);
  to.replace(to.call("aten.where.self", {to.tensor("mask"), value, to.self()}, spec));
}

void reverse_subtract(Decomposition& to) {
  // In rsub.Scalar, alpha may be a positional argument.
  const Argument alpha = to.arg("alpha");
  to.replace(to.call("aten.sub.Tensor", {to.arg("other"), to.self()}, to.spec(),
                     alpha.is_none() ? ArgumentMap{} : ArgumentMap{{"alpha", alpha}}));
}

// Decomposes the overloads of `where` that take numbers, which become tensors.
void where(Decomposition& to) {
  ArgumentList args = {to.self(), to.arg("self"), to.arg("other")};
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].node() == nullptr) args[i] = to.scalar(args[i], to.spec().dtype);
  }
  to.replace(to.make("aten.where.self", std::move(args)));
}

// Computes self + (value * a) * b for addcmul, and self + (value * a) / b for addcdiv.
void add_product(Decomposition& to) {
  const Argument value = to.factor("value");
  Node* term = to.tensor("tensor1");
  if (!(value == Argument(1) || value == Argument(1.0))) term = to.mul(term, value);
  Node* other = to.tensor("tensor2");
  const bool divides = to.node().target().op() == "addcdiv";
  to.replace(to.add(to.self(), divides ? to.div(term, other) : to.mul(term, other)));
}

// Computes start + weight * (end - start) if |weight| < 0.5, else end - (1 - weight) * (end -
// start). The results for weights 0 and 1 are exact.
void interpolate(Decomposition& to) {
  Node* start = to.self();
  Node* end = to.tensor("end");
  Node* difference = to.sub(end, start);
  const auto from_start = [&](const Argument& weight) {
    return to.add(start, to.mul(difference, weight));
  };
  const auto from_end = [&](const Argument& rest) { return to.sub(end, to.mul(difference, rest)); };
  if (to.node().target().overload() == "Scalar") {
    const double weight = to.number("weight");
    return to.replace(std::abs(weight) < 0.5 ? from_start(weight) : from_end(1 - weight));
  }
  Node* weight = to.tensor("weight");
  Node* is_small = to.compare("lt", to("abs", weight), 0.5);
  to.replace(to.where(is_small, from_start(weight), from_end(to.sub(1, weight))));
}

void square(Decomposition& to) { to.replace(to.make("aten.pow.Tensor_Scalar", {to.self(), 2})); }
void exp2(Decomposition& to) { to.replace(to.make("aten.pow.Scalar", {2.0, to.self()})); }
void fraction(Decomposition& to) {
  Node* integer = to("trunc", to.self());
  to.replace(to.make("aten.sub.Tensor", {to.self(), integer}));
}

void clamp_below(Decomposition& to) {
  to.replace(to.call("aten.clamp.default", {to.self(), to.arg("min")}, to.spec()));
}
void clamp_above(Decomposition& to) {
  to.replace(to.call("aten.clamp.default", {to.self(), Argument(), to.arg("max")}, to.spec()));
}

void is_finite(Decomposition& to) {
  Node* x = to.self();
  Node* is_number = to("logical_not", to("isnan", x));
  Node* is_bounded = to("logical_not", to("isinf", x));
  to.replace(to("logical_and", is_number, is_bounded));
}

void replace_nan(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  double max = std::numeric_limits<float>::max();
  if (dtype == ScalarType::kDouble) max = std::numeric_limits<double>::max();
  if (dtype == ScalarType::kHalf) max = 65504;
  if (dtype == ScalarType::kBFloat16) max = 3.3895313892515355e38;
  if (!is_floating(dtype)) return to.replace(x);
  const auto value = [&](const char* name, double fallback) {
    const Argument argument = to.arg(name);
    return to.scalar(argument.is_none() ? Argument(fallback) : argument, dtype);
  };
  Node* is_nan = to("isnan", x);
  Node* result = to.make("aten.where.self", {is_nan, value("nan", 0), x});
  Node* is_high = to.compare("eq", x, kInfinity);
  result = to.make("aten.where.self", {is_high, value("posinf", max), result});
  Node* is_low = to.make("aten.eq.Scalar", {x, -kInfinity});
  to.replace(to.make("aten.where.self", {is_low, value("neginf", -max), result}));
}

// Replaces op(number, tensor) with op(tensor, number). The operator must be commutative.
void swapped(Decomposition& to) {
  const std::string target = "aten." + std::string(to.node().target().op()) + ".Scalar";
  to.replace(to.call(target, {to.tensor("other"), to.arg("self")}, to.spec()));
}

// Decomposes operators that return their input unchanged, such as real() of a real tensor.
void itself(Decomposition& to) { to.replace(to.self()); }

void conjugate(Decomposition& to) {
  const ScalarType dtype = to.self()->tensor()->dtype;
  if (dtype != ScalarType::kComplexFloat && dtype != ScalarType::kComplexDouble) return itself(to);
  to.replace(to.call("aten._conj_physical.default", {to.self()}, to.spec()));
}

void rename(Decomposition& to) {
  const std::string& other = operator_of(to.node().target())->same_as;
  ArgumentList args = to.node().args();
  // cdist may omit compute_mode, which is a required argument of _cdist_forward.
  if (other == "aten._cdist_forward.default") {
    args = {to.self(), to.tensor("x2"), to.value("p"), to.arg("compute_mode")};
  }
  to.replace(to.call(other, std::move(args), to.node().meta.value, to.node().kwargs()));
}

}  // namespace vitrine::aot::decompositions
