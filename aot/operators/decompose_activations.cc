#include <cmath>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {

void relu6(Decomposition& to) {
  to.replace(to.call("aten.hardtanh.default", {to.self(), 0, 6}, to.spec()));
}

void silu(Decomposition& to) {
  Node* gate = to("sigmoid", to.self());
  to.replace(to.call("aten.mul.Tensor", {to.self(), gate}, to.spec()));
}

namespace {

// Computes clamp(x + 3, 0, 6).
Node* ramp(Decomposition& to) {
  Node* shifted = to.make("aten.add.Tensor", {to.self(), 3});
  shifted = to("clamp", shifted, 0);
  return to.make("aten.clamp.default", {shifted, Argument(), 6});
}

}  // namespace

void hardsigmoid(Decomposition& to) { to.replace(to.make("aten.div.Tensor", {ramp(to), 6})); }

void hardswish(Decomposition& to) {
  Node* gate = ramp(to);
  Node* product = to.make("aten.mul.Tensor", {to.self(), gate});
  to.replace(to.div(product, 6));
}

namespace {

// Computes log(1 + exp(beta x)) / beta, or x if beta x exceeds the threshold.
Node* softplus_of(Decomposition& to, Node* x, double beta, Argument threshold) {
  Node* scaled = beta == 1 ? x : to.mul(x, beta);
  Node* curve = to("log1p", to("exp", scaled));
  if (beta != 1) curve = to.div(curve, beta);
  Node* is_linear = to.make("aten.gt.Scalar", {scaled, std::move(threshold)});
  return to.where(is_linear, x, curve);
}

}  // namespace

void softplus(Decomposition& to) {
  const double beta = to.number("beta");
  if (beta == 0) to.refuse("beta must not be 0");
  to.replace(softplus_of(to, to.self(), beta, to.value("threshold")));
}

void mish(Decomposition& to) {
  Node* x = to.self();
  Node* gate = to.make("aten.tanh.default", {softplus_of(to, x, 1, 20)});
  to.replace(to.mul(x, gate));
}

// Computes log(sigmoid(x)) as min(x, 0) - log(1 + exp(-|x|)), which does not overflow.
void log_sigmoid(Decomposition& to) {
  Node* x = to.self();
  Node* zero = to.scalar(0, x->tensor()->dtype);
  Node* below = to("minimum", x, zero);
  Node* negative_magnitude = to("neg", to("abs", x));
  Node* curve = to("log1p", to("exp", negative_magnitude));
  to.replace(to.sub(below, curve));
}

void selu(Decomposition& to) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  to.replace(to.make("aten.elu.default", {to.self(), kAlpha, kScale}));
}
void celu(Decomposition& to) {
  const double alpha = to.number("alpha");
  if (alpha == 0) to.refuse("alpha must not be 0");
  to.replace(to.make("aten.elu.default", {to.self(), alpha, 1.0, 1 / alpha}));
}

// Computes glu: multiplies the first half of the input by the sigmoid of the second half.
void glu(Decomposition& to) {
  Node* x = to.self();
  const int64_t dim = to.integer("dim");
  const SymInt size = x->tensor()->sizes.at(wrapped(dim, x->tensor()->rank()));
  if (size.is_static() && size.value() % 2 != 0) to.refuse("the size of dim must be even");
  const SymInt half = size / SymInt(2);
  Node* values = to.make("aten.slice.Tensor", {x, dim, 0, to.size(half)});
  Node* gates = to.make("aten.slice.Tensor", {x, dim, to.size(half), to.size(size)});
  to.replace(to.make("aten.mul.Tensor", {values, to("sigmoid", gates)}));
}

void prelu(Decomposition& to) {
  Node* x = to.self();
  Node* weight = to.tensor("weight");
  const TensorSpec& spec = *x->tensor();
  if (weight->tensor()->rank() > 0 && spec.rank() > 0) {
    // The weight has one value per channel and must broadcast along the other dims.
    Sizes sizes(spec.rank(), SymInt(1));
    if (weight->tensor()->rank() != 1) to.refuse("weight must be a vector");
    sizes[spec.rank() == 1 ? 0 : 1] = weight->tensor()->sizes[0];
    weight = to.reshape(weight, sizes);
  }
  Node* positive = to.compare("gt", x, 0);
  Node* scaled = to.mul(weight, x);
  to.replace(to.where(positive, x, scaled));
}

void logit(Decomposition& to) {
  Node* x = to.self();
  if (!is_floating(x->tensor()->dtype)) x = to.convert(x, ScalarType::kFloat);
  if (!to.arg("eps").is_none()) {
    const double eps = to.number("eps", 0);
    const ScalarType dtype = x->tensor()->dtype;
    Node* low = to.compare("lt", x, eps);
    Node* high = to.make("aten.gt.Scalar", {x, 1 - eps});
    x = to.make("aten.where.self", {high, to.scalar(1 - eps, dtype), x});
    x = to.make("aten.where.self", {low, to.scalar(eps, dtype), x});
  }
  Node* rest = to.sub(1, x);
  to.replace(to("log", to.div(x, rest)));
}

// Sets elements with |x| <= lambda to 0.
void hardshrink(Decomposition& to) {
  Node* x = to.self();
  const double lambda = to.number("lambd");
  Node* small = to.make("aten.le.Scalar", {to("abs", x), lambda});
  to.replace(to.make("aten.where.self", {small, to.scalar(0, x->tensor()->dtype), x}));
}
// Moves elements toward 0 by lambda, and sets elements with |x| <= lambda to 0. NaN stays NaN.
void softshrink(Decomposition& to) {
  Node* x = to.self();
  const double lambda = to.number("lambd");
  Node* large = to.make("aten.gt.Scalar", {to("abs", x), lambda});
  Node* step = to.make("aten.mul.Scalar", {to("sign", x), lambda});
  Node* moved = to.sub(x, step);
  to.replace(to.where(large, moved, to.mul(x, 0)));
}

void threshold(Decomposition& to) {
  Node* x = to.self();
  Node* below = to.make("aten.le.Scalar", {x, to.arg("threshold")});
  Node* value = to.scalar(to.arg("value"), x->tensor()->dtype);
  to.replace(to.where(below, value, x));
}

// In evaluation mode, rrelu multiplies negative elements by the mean of `lower` and `upper`.
void rrelu(Decomposition& to) {
  if (to.boolean("training"))
    to.refuse("training mode is not supported; export the model in evaluation mode");
  const double slope = (to.number("lower") + to.number("upper")) / 2;
  to.replace(to.make("aten.leaky_relu.default", {to.self(), slope}));
}

// Decomposes softmax and log_softmax. If the call states a dtype, converts the input first.
void softmax(Decomposition& to) {
  const ScalarType dtype = to.spec().dtype;
  Node* x = to.convert(to.self(), dtype);
  const bool is_log = to.node().target().op() == "log_softmax";
  to.replace(to.call(is_log ? "aten._log_softmax.default" : "aten._softmax.default",
                     {x, to.integer("dim"), false}, to.spec()));
}

}  // namespace vitrine::aot::decompositions
