// Decompositions of losses, element by element and by class.
#include <numbers>

#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// 0 keeps all elements, 1 takes their mean, 2 their sum.
void reduce_loss(Decomposition& to, Node* loss) {
  switch (to.integer("reduction")) {
    case 0:
      return to.replace(loss);
    case 1:
      return to.replace(to("mean", loss));
    case 2:
      return to.replace(to.make("aten.sum.dim_IntList", {loss, Argument::list({})}));
    default:
      to.refuse("its reduction is unknown");
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

// Squared up to beta, straight from there.
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

// -(t log(p) + (1 - t) log(1 - p)), logarithms no less than -100.
void binary_cross_entropy(Decomposition& to) {
  Node* p = to.self();
  Node* target = to.tensor("target");
  Node* of_rest = to("clamp", to("log1p", to("neg", p)), -100.0);
  Node* of_hit = to("clamp", to("log", p), -100.0);
  Node* loss = to.sub(to.mul(to.sub(target, 1), of_rest), to.mul(target, of_hit));
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

// t (log(t) - x); of targets that are logarithms exp(t) (t - x).
void divergence(Decomposition& to) {
  Node* x = to.self();
  Node* target = to.tensor("target");
  if (to.boolean("log_target")) {
    return reduce_loss(to, to.mul(to("exp", target), to.sub(target, x)));
  }
  Node* own = to.make("aten.xlogy.Tensor", {target, target});
  reduce_loss(to, to.sub(own, to.mul(target, x)));
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

// `a` where the target is not -1, and `b` where it is not 1; both where it is neither.
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
  Node* apart = to("clamp", to.sub(cosine, to.number("margin")), 0);
  reduce_loss(to, by_sign(to, target, to.sub(1, cosine), apart, "eq"));
}

// max(d(a, p) - d(a, n) + margin, 0)
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
    // Stirling's formula of the target's factorial.
    Node* whole = to.sub(to.mul(target, to("log", target)), target);
    Node* rest = to.mul(to("log", to.mul(target, 2 * std::numbers::pi)), 0.5);
    loss = to.add(loss, to.where(to.compare("le", target, 1), 0, to.add(whole, rest)));
  }
  reduce_loss(to, loss);
}

namespace {

// The dim of the classes: the second, or of one dim that.
int64_t class_dim(const Node* x) { return rank_of(x) == 1 ? 0 : 1; }

// Weights of classes as a tensor that broadcasts along the dim of classes.
Node* along_classes(Decomposition& to, Node* weight, const Node* x) {
  Sizes sizes(rank_of(x), SymInt(1));
  sizes.at(static_cast<size_t>(class_dim(x))) = size_at(weight, 0);
  return to.reshape(weight, sizes);
}

// Losses by class and their weights; null if all have equal weight.
struct ClassLoss {
  Node* loss = nullptr;
  Node* weights = nullptr;
};

// -logs[target] * weight[target], and 0 for the target that is ignored.
ClassLoss loss_of_classes(Decomposition& to, Node* logs, Node* target, Node* weight,
                          int64_t ignored) {
  const int64_t dim = class_dim(logs);
  Node* counts = to.compare("ne", target, ignored);
  Node* safe = to.where(counts, target, 0);
  Node* picked = to("gather", logs, dim, to.unsqueeze(safe, dim));
  ClassLoss result;
  result.loss = to("neg", to.squeeze(picked, dim));
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

// Means are by weight.
Node* reduced(Decomposition& to, Node* loss, Node* weights, int64_t reduction) {
  if (reduction == 0) return loss;
  Node* total = to.sum(loss, {});
  if (reduction == 2) return total;
  if (reduction != 1) to.refuse("its reduction is unknown");
  return to.div(total, to.sum(weights, {}));
}

}  // namespace

// (self, target, weight, reduction, ignore_index)
void negative_log_likelihood(Decomposition& to) {
  const ClassLoss found = loss_of_classes(to, to.self(), to.tensor("target"),
                                          to.optional_tensor("weight"), to.integer("ignore_index"));
  to.replace(reduced(to, found.loss, found.weights, to.integer("reduction")));
}
// The same, and the weight of all.
void negative_log_likelihood_forward(Decomposition& to) {
  const int64_t reduction = to.integer("reduction");
  const ClassLoss found = loss_of_classes(to, to.self(), to.tensor("target"),
                                          to.optional_tensor("weight"), to.integer("ignore_index"));
  Node* total =
      reduction == 0 ? to.scalar(0, found.loss->tensor()->dtype) : to.sum(found.weights, {});
  to.replace_items({reduced(to, found.loss, found.weights, reduction), total});
}

namespace {

// Targets that are probabilities: -sum(weight * target * logs), its mean by the batch.
void cross_entropy_of_probabilities(Decomposition& to, Node* logs, Node* weight, int64_t reduction,
                                    double smoothing) {
  Node* target = to.tensor("target");
  const int64_t dim = class_dim(logs);
  const SymInt& classes = size_at(logs, static_cast<size_t>(dim));
  if (smoothing > 0) {
    if (!classes.is_static()) to.refuse("it smooths a symbolic number of classes");
    target =
        to.add(to.mul(target, 1 - smoothing), smoothing / static_cast<double>(classes.value()));
  }
  Node* products = to.mul(logs, target);
  if (weight != nullptr) products = to.mul(products, along_classes(to, weight, logs));
  if (reduction == 0) return to.replace(to("neg", to.sum(products, {dim})));
  Node* total = to("neg", to.sum(products, {}));
  if (reduction == 2) return to.replace(total);
  if (reduction != 1) to.refuse("its reduction is unknown");
  Sizes each = logs->tensor()->sizes;
  each.erase(each.begin() + dim);
  const SymInt count = product_of(each);
  if (!count.is_static()) to.refuse("it takes the mean of a symbolic batch");
  to.replace(to.div(total, static_cast<double>(count.value())));
}

}  // namespace

// (self, target, weight, reduction, ignore_index, label_smoothing)
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
    if (!classes.is_static()) to.refuse("it smooths a symbolic number of classes");
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
