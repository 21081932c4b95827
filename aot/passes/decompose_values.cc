// Decompositions of element-wise operators other than activations, and alternative names of
// operators.
#include <algorithm>
#include <limits>

#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {

void floor_divide(Decomposition& to) {
  to.replace(to.call("aten.div.Tensor_mode", {to.self(), to.arg("other")}, to.spec(),
                     {{"rounding_mode", "floor"}}));
}

void masked_fill(Decomposition& to) {
  const TensorSpec& spec = to.spec();
  const Argument given = to.arg("value");
  Node* value = given.node() != nullptr && given.node()->tensor() != nullptr
                    ? to.convert(given.node(), spec.dtype)
                    : to.scalar(given, spec.dtype);
  to.replace(to.call("aten.where.self", {to.tensor("mask"), value, to.self()}, spec));
}

void reverse_subtract(Decomposition& to) {
  // For numbers, alpha is a positional argument.
  const Argument alpha = to.arg("alpha");
  to.replace(to.call("aten.sub.Tensor", {to.arg("other"), to.self()}, to.spec(),
                     alpha.is_none() ? ArgumentMap{} : ArgumentMap{{"alpha", alpha}}));
}

// where with numbers: these are tensors of the result's dtype.
void where(Decomposition& to) {
  ArgumentList args = {to.self(), to.arg("self"), to.arg("other")};
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].node() == nullptr) args[i] = to.scalar(args[i], to.spec().dtype);
  }
  to.replace(to.make("aten.where.self", std::move(args)));
}

// self + value * a * b, and self + value * a / b
void add_product(Decomposition& to) {
  const bool divides = to.node().target().op() == "addcdiv";
  Node* term = to.make(divides ? "aten.div.Tensor" : "aten.mul.Tensor",
                       {to.tensor("tensor1"), to.tensor("tensor2")});
  const Argument value = to.factor("value");
  const bool is_one = (value.get<int64_t>() != nullptr && *value.get<int64_t>() == 1) ||
                      (value.get<double>() != nullptr && *value.get<double>() == 1);
  if (!is_one) term = to.mul(term, value);
  to.replace(to.make("aten.add.Tensor", {to.self(), term}));
}

// start + weight (end - start)
void interpolate(Decomposition& to) {
  Node* difference = to.make("aten.sub.Tensor", {to.tensor("end"), to.self()});
  Node* step = to.make("aten.mul.Tensor", {difference, to.arg("weight")});
  to.replace(to.make("aten.add.Tensor", {to.self(), step}));
}

void square(Decomposition& to) { to.replace(to.make("aten.pow.Tensor_Scalar", {to.self(), 2})); }
void exp2(Decomposition& to) { to.replace(to.make("aten.pow.Scalar", {2.0, to.self()})); }
void complement_of_erf(Decomposition& to) {
  to.replace(to.make("aten.sub.Tensor", {1, to("erf", to.self())}));
}
void fraction(Decomposition& to) {
  Node* whole = to("trunc", to.self());
  to.replace(to.make("aten.sub.Tensor", {to.self(), whole}));
}

void clamp_below(Decomposition& to) {
  to.replace(to.call("aten.clamp.default", {to.self(), to.arg("min")}, to.spec()));
}
void clamp_above(Decomposition& to) {
  to.replace(to.call("aten.clamp.default", {to.self(), Argument(), to.arg("max")}, to.spec()));
}

// x == x, and |x| is not infinite.
void is_finite(Decomposition& to) {
  Node* x = to.self();
  Node* is_number = to("logical_not", to("isnan", x));
  Node* is_bounded = to("logical_not", to("isinf", x));
  to.replace(to("logical_and", is_number, is_bounded));
}

void replace_nan(Decomposition& to) {
  Node* x = to.self();
  const ScalarType dtype = x->tensor()->dtype;
  double largest = std::numeric_limits<float>::max();
  if (dtype == ScalarType::kDouble) largest = std::numeric_limits<double>::max();
  if (dtype == ScalarType::kHalf) largest = 65504;
  if (dtype == ScalarType::kBFloat16) largest = 3.3895313892515355e38;
  if (!is_floating(dtype)) return to.replace(x);
  const auto value = [&](const char* name, double fallback) {
    const Argument given = to.arg(name);
    return to.scalar(given.is_none() ? Argument(fallback) : given, dtype);
  };
  Node* is_nan = to("isnan", x);
  Node* result = to.make("aten.where.self", {is_nan, value("nan", 0), x});
  Node* is_high = to.compare("eq", x, kInfinity);
  result = to.make("aten.where.self", {is_high, value("posinf", largest), result});
  Node* is_low = to.make("aten.eq.Scalar", {x, -kInfinity});
  to.replace(to.make("aten.where.self", {is_low, value("neginf", -largest), result}));
}

// A number and a tensor, in whichever order.
void swapped(Decomposition& to) {
  const std::string target = "aten." + std::string(to.node().target().op()) + ".Scalar";
  to.replace(to.call(target, {to.tensor("other"), to.arg("self")}, to.spec()));
}

// A copy in the same memory format, or of a tensor that is already real and dense.
void itself(Decomposition& to) { to.replace(to.self()); }

void conjugate(Decomposition& to) {
  const ScalarType dtype = to.self()->tensor()->dtype;
  if (dtype != ScalarType::kComplexFloat && dtype != ScalarType::kComplexDouble) return itself(to);
  to.replace(to.call("aten._conj_physical.default", {to.self()}, to.spec()));
}

void rename(Decomposition& to) {
  const std::string& other = operator_of(to.node().target())->same_as;
  ArgumentList args = to.node().args();
  // cdist leaves the compute mode open; the operator has it as an argument.
  if (other == "aten._cdist_forward.default") {
    args = {to.self(), to.tensor("x2"), to.value("p"), to.arg("compute_mode")};
  }
  to.replace(to.call(other, std::move(args), to.node().meta.value, to.node().kwargs()));
}

}  // namespace vitrine::aot::decompositions
