#include <numbers>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// Replaces the node with the reduced loss. Reduction 0 keeps all elements, 1 takes the mean, and 2
// takes the sum.
void reduce_loss(Decomposition& to, Node* loss) {
  switch (to.integer("reduction")) {
    case 0:
      return to.replace(loss);
    case 1:
      return to.replace(to("mean", loss));
    case 2:
      return to.replace(to.make("aten.sum.dim_IntList", {loss, Argument::list({})}));
    default:
      to.refuse("unknown reduction");
  }
}

Node* error_of(Decomposition& to) { return to.make("aten.sub.Tensor", {to.self(), to.operand(1)}); }

}  // namespace

void squared_loss(Decomposition& to) {
  reduce_loss(to, to.make("aten.pow.Tensor_Scalar", {error_of(to), 2}));
}

void absolute_loss(Decomposition& to) {
  reduce_loss(to, to.make("aten.abs.default", {error_of(to)}));
}

// Computes smooth_l1_loss, which is quadratic where |input - target| < beta, and linear elsewhere.
void smooth_absolute_loss(Decomposition& to) {
  const double beta = to.number("beta");
  Node* distance = to("abs", error_of(to));
  if (beta == 0) return reduce_loss(to, distance);
  Node* curve = to.mul(to.pow(distance, 2), 0.5 / beta);
  Node* line = to.sub(distance, 0.5 * beta);
  reduce_loss(to, to.where(to.compare("lt", distance, beta), curve, line));
}
void huber_loss(Decomposition& to) {
  const double delta = to.number("delta");
  Node* distance = to("abs", error_of(to));
  Node* curve = to.mul(to.mul(distance, distance), 0.5);
  Node* line = to.mul(to.sub(distance, 0.5 * delta), delta);
  reduce_loss(to, to.where(to.compare("le", distance, delta), curve, line));
}

// Computes -(t log(p) + (1 - t) log(1 - p)). Clamps logarithms to at least -100.
void binary_cross_entropy(Decomposition& to) {
  Node* p = to.self();
  Node* target = to.tensor("target");
  Node* log_of_rest = to("clamp", to("log1p", to("neg", p)), -100.0);
  Node* log_of_p = to("clamp", to("log", p), -100.0);
  Node* loss = to.sub(to.mul(to.sub(target, 1), log_of_rest), to.mul(target, log_of_p));
  if (Node* weight = to.optional_tensor("weight")) loss = to.mul(loss, weight);
  reduce_loss(to, loss);
}
void binary_cross_entropy_of_logits(Decomposition& to) {
  Node* x = to.self();
  Node* target = to.tensor("target");
  Node* logs = to("log_sigmoid", x);
  Node* miss = to.mul(to.sub(1, target), x);
  if (Node* positive = to.optional_tensor("pos_weight")) {
    logs = to.mul(to.add(to.mul(to.sub(positive, 1), target), 1), logs);
  }
  Node* loss = to.sub(miss, logs);
  if (Node* weight = to.optional_tensor("weight")) loss = to.mul(loss, weight);
  reduce_loss(to, loss);
}

// Computes kl_div of input x and target t: t (log(t) - x), or exp(t) (t - x) if t is a logarithm.
void divergence(Decomposition& to) {
  Node* x = to.self();
  Node* target = to.tensor("target");
  if (to.boolean("log_target")) {
    return reduce_loss(to, to.mul(to("exp", target), to.sub(target, x)));
  }
  Node* entropy = to.make("aten.xlogy.Tensor", {target, target});
  reduce_loss(to, to.sub(entropy, to.mul(target, x)));
}

void soft_margin_loss(Decomposition& to) {
  Node* margin = to("exp", to.mul(to("neg", to.self()), to.tensor("target")));
  reduce_loss(to, to("log1p", margin));
}

void ranking_loss(Decomposition& to) {
  Node* loss = to.mul(to("neg", to.tensor("target")), error_of(to));
  reduce_loss(to, to("clamp", to.add(loss, to.number("margin")), 0));
}

namespace {

// Selects `a` where the target is 1, and `b` where the target is -1. For other targets, the result
// is 0 if `compare` is "eq", and a + b if `compare` is "ne".
Node* by_sign(Decomposition& to, Node* target, Node* a, Node* b, const char* compare) {
  const bool other = std::string_view(compare) == "ne";
  Node* first = to.where(to.compare(compare, target, other ? -1 : 1), a, 0);
  Node* second = to.where(to.compare(compare, target, other ? 1 : -1), b, 0);
  return to.add(first, second);
}

}  // namespace

void hinge_embedding_loss(Decomposition& to) {
  Node* x = to.self();
  Node* beyond = to("clamp", to.sub(to.number("margin"), x), 0);
  reduce_loss(to, by_sign(to, to.tensor("target"), x, beyond, "ne"));
}

void cosine_embedding_loss(Decomposition& to) {
  constexpr double kEpsilon = 1e-12;
  Node* a = to.self();
  Node* b = to.tensor("input2");
  Node* target = to.tensor("target");
  const Dims dims = {static_cast<int64_t>(rank_of(target))};
  const auto product = [&](Node* x, Node* y) { return to.sum(to.mul(x, y), dims); };
  Node* lengths = to.mul(to.add(product(a, a), kEpsilon), to.add(product(b, b), kEpsilon));
  Node* cosine = to.div(product(a, b), to("sqrt", lengths));
  Node* dissimilar = to("clamp", to.sub(cosine, to.number("margin")), 0);
  reduce_loss(to, by_sign(to, target, to.sub(1, cosine), dissimilar, "eq"));
}

// Computes max(d(anchor, positive) - d(anchor, negative) + margin, 0).
void triplet_margin_loss(Decomposition& to) {
  const double order = to.number("p");
  const double eps = to.number("eps");
  const auto distance = [&](Node* a, Node* b) {
    return to("linalg_vector_norm", to.add(to.sub(a, b), eps), order, Dims{-1});
  };
  Node* near = distance(to.self(), to.tensor("positive"));
  Node* far = distance(to.self(), to.tensor("negative"));
  if (to.boolean("swap")) {
    far = to("minimum", far, distance(to.tensor("positive"), to.tensor("negative")));
  }
  Node* loss = to("clamp", to.add(to.sub(near, far), to.number("margin")), 0);
  reduce_loss(to, loss);
}

void poisson_loss(Decomposition& to) {
  Node* x = to.self();
  Node* target = to.tensor("target");
  Node* loss = nullptr;
  if (to.boolean("log_input")) {
    loss = to.sub(to("exp", x), to.mul(target, x));
  } else {
    loss = to.sub(x, to.mul(target, to("log", to.add(x, to.number("eps")))));
  }
  if (to.boolean("full")) {
    // Adds Stirling's approximation of log(target!) to the loss of each target greater than 1.
    Node* main_term = to.sub(to.mul(target, to("log", target)), target);
    Node* rest = to.mul(to("log", to.mul(target, 2 * std::numbers::pi)), 0.5);
    loss = to.add(loss, to.where(to.compare("le", target, 1), 0, to.add(main_term, rest)));
  }
  reduce_loss(to, loss);
}

namespace {

int64_t class_dim(const Node* x) { return rank_of(x) == 1 ? 0 : 1; }

// Reshapes the class weights, so that they broadcast along the dim of classes.
Node* along_classes(Decomposition& to, Node* weight, const Node* x) {
  Sizes sizes(rank_of(x), SymInt(1));
  sizes.at(static_cast<size_t>(class_dim(x))) = size_at(weight, 0);
  return to.reshape(weight, sizes);
}

// The loss of each target, and the weight of its class.
struct ClassLoss {
  Node* loss = nullptr;
  Node* weights = nullptr;
};

// Computes -logs[target] * weight[target]. The loss and the weight of ignored targets are 0.
ClassLoss loss_of_classes(Decomposition& to, Node* logs, Node* target, Node* weight,
                          int64_t ignored) {
  const int64_t dim = class_dim(logs);
  Node* counts = to.compare("ne", target, ignored);
  Node* safe = to.where(counts, target, 0);
  Node* selected = to("gather", logs, dim, to.unsqueeze(safe, dim));
  ClassLoss result;
  result.loss = to("neg", to.squeeze(selected, dim));
  Node* weights = nullptr;
  if (weight != nullptr) {
    weights = to.index(weight, {safe});
    result.loss = to.mul(result.loss, weights);
  } else {
    weights = to.full(target->tensor()->sizes, 1, logs->tensor()->dtype);
  }
  result.weights = to.where(counts, weights, 0);
  result.loss = to.where(counts, result.loss, 0);
  return result;
}

// Reduces the losses. The mean is the sum of the losses divided by the sum of the weights.
Node* reduced(Decomposition& to, Node* loss, Node* weights, int64_t reduction) {
  if (reduction == 0) return loss;
  Node* total = to.sum(loss, {});
  if (reduction == 2) return total;
  if (reduction != 1) to.refuse("unknown reduction");
  return to.div(total, to.sum(weights, {}));
}

}  // namespace

// Decomposes nll_loss(self, target, weight, reduction, ignore_index).
void negative_log_likelihood(Decomposition& to) {
  const ClassLoss found = loss_of_classes(to, to.self(), to.tensor("target"),
                                          to.optional_tensor("weight"), to.integer("ignore_index"));
  to.replace(reduced(to, found.loss, found.weights, to.integer("reduction")));
}
// Like negative_log_likelihood(), but returns the total weight as a second result.
void negative_log_likelihood_forward(Decomposition& to) {
  const int64_t reduction = to.integer("reduction");
  const ClassLoss found = loss_of_classes(to, to.self(), to.tensor("target"),
                                          to.optional_tensor("weight"), to.integer("ignore_index"));
  Node* total =
      reduction == 0 ? to.scalar(0, found.loss->tensor()->dtype) : to.sum(found.weights, {});
  to.replace_items({reduced(to, found.loss, found.weights, reduction), total});
}

namespace {

// Computes -sum(weight * target * logs) for targets that are probabilities. A mean reduction
// divides by the batch size.
void cross_entropy_of_probabilities(Decomposition& to, Node* logs, Node* weight, int64_t reduction,
                                    double smoothing) {
  Node* target = to.tensor("target");
  const int64_t dim = class_dim(logs);
  const SymInt& classes = size_at(logs, static_cast<size_t>(dim));
  if (smoothing > 0) {
    if (!classes.is_static())
      to.refuse("the number of classes must not be symbolic for label smoothing");
    target =
        to.add(to.mul(target, 1 - smoothing), smoothing / static_cast<double>(classes.value()));
  }
  Node* products = to.mul(logs, target);
  if (weight != nullptr) products = to.mul(products, along_classes(to, weight, logs));
  if (reduction == 0) return to.replace(to("neg", to.sum(products, {dim})));
  Node* total = to("neg", to.sum(products, {}));
  if (reduction == 2) return to.replace(total);
  if (reduction != 1) to.refuse("unknown reduction");
  Sizes batch = logs->tensor()->sizes;
  batch.erase(batch.begin() + dim);
  const SymInt count = product_of(batch);
  if (!count.is_static()) to.refuse("the batch size must not be symbolic for reduction mean");
  to.replace(to.div(total, static_cast<double>(count.value())));
}

}  // namespace

// Decomposes cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing).
void cross_entropy(Decomposition& to) {
  Node* x = to.self();
  Node* target = to.tensor("target");
  Node* weight = to.optional_tensor("weight");
  const int64_t reduction = to.integer("reduction");
  const double smoothing = to.number("label_smoothing");
  const int64_t dim = class_dim(x);
  Node* logs = to.make("aten.log_softmax.int", {x, dim});
  if (is_floating(target->tensor()->dtype)) {
    return cross_entropy_of_probabilities(to, logs, weight, reduction, smoothing);
  }
  const int64_t ignored = to.integer("ignore_index");
  const ClassLoss found = loss_of_classes(to, logs, target, weight, ignored);
  Node* loss = reduced(to, found.loss, found.weights, reduction);
  if (smoothing > 0) {
    const SymInt& classes = size_at(logs, static_cast<size_t>(dim));
    if (!classes.is_static())
      to.refuse("the number of classes must not be symbolic for label smoothing");
    Node* all = weight == nullptr ? logs : to.mul(logs, along_classes(to, weight, logs));
    all = to("neg", to.sum(all, {dim}));
    all = to.where(to.compare("ne", target, ignored), all, 0);
    Node* smooth = reduced(to, all, found.weights, reduction);
    loss = to.add(to.mul(loss, 1 - smoothing),
                  to.mul(smooth, smoothing / static_cast<double>(classes.value())));
  }
  to.replace(loss);
}

}  // namespace vitrine::aot::decompositions
