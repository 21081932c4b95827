// Decompositions of losses, element by element and by class.
#include <array>
#include <numbers>

#include "aot/passes/call_builder.h"
#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// 0 keeps all elements, 1 takes their mean, 2 their sum.
void reduce_loss(Decomposition& to, Node* loss) {
  switch (to.integer("reduction")) {
    case 0:
      return to.replace(loss);
    case 1:
      return to.replace(to.make("aten.mean.default", {loss}));
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
  const Calls f(to);
  const double beta = to.number("beta");
  Node* distance = f("abs", error_of(to));
  if (beta == 0) return reduce_loss(to, distance);
  Node* curve = f.mul(f.pow(distance, 2), 0.5 / beta);
  Node* line = f.sub(distance, 0.5 * beta);
  reduce_loss(to, f.where(f.compare("lt", distance, beta), curve, line));
}
void huber_loss(Decomposition& to) {
  const Calls f(to);
  const double delta = to.number("delta");
  Node* distance = f("abs", error_of(to));
  Node* curve = f.mul(f.mul(distance, distance), 0.5);
  Node* line = f.mul(f.sub(distance, 0.5 * delta), delta);
  reduce_loss(to, f.where(f.compare("le", distance, delta), curve, line));
}

// -(t log(p) + (1 - t) log(1 - p)), logarithms no less than -100.
void binary_cross_entropy(Decomposition& to) {
  const Calls f(to);
  Node* p = to.self();
  Node* target = to.tensor("target");
  Node* of_rest = f("clamp", f("log1p", f("neg", p)), -100.0);
  Node* of_hit = f("clamp", f("log", p), -100.0);
  Node* loss = f.sub(f.mul(f.sub(target, 1), of_rest), f.mul(target, of_hit));
  if (Node* weight = to.optional_tensor("weight")) loss = f.mul(loss, weight);
  reduce_loss(to, loss);
}
void binary_cross_entropy_of_logits(Decomposition& to) {
  const Calls f(to);
  Node* x = to.self();
  Node* target = to.tensor("target");
  Node* logs = f("log_sigmoid", x);
  Node* miss = f.mul(f.sub(1, target), x);
  if (Node* positive = to.optional_tensor("pos_weight")) {
    logs = f.mul(f.add(f.mul(f.sub(positive, 1), target), 1), logs);
  }
  Node* loss = f.sub(miss, logs);
  if (Node* weight = to.optional_tensor("weight")) loss = f.mul(loss, weight);
  reduce_loss(to, loss);
}

// t (log(t) - x); of targets that are logarithms exp(t) (t - x).
void divergence(Decomposition& to) {
  const Calls f(to);
  Node* x = to.self();
  Node* target = to.tensor("target");
  if (to.boolean("log_target")) {
    return reduce_loss(to, f.mul(f("exp", target), f.sub(target, x)));
  }
  Node* own = to.make("aten.xlogy.Tensor", {target, target});
  reduce_loss(to, f.sub(own, f.mul(target, x)));
}

void soft_margin_loss(Decomposition& to) {
  const Calls f(to);
  Node* margin = f("exp", f.mul(f("neg", to.self()), to.tensor("target")));
  reduce_loss(to, f("log1p", margin));
}

void ranking_loss(Decomposition& to) {
  const Calls f(to);
  Node* loss = f.mul(f("neg", to.tensor("target")), error_of(to));
  reduce_loss(to, f("clamp", f.add(loss, to.number("margin")), 0));
}

namespace {

// `a` where the target is not -1, and `b` where it is not 1; both where it is neither.
Node* by_sign(const Calls& f, Node* target, Node* a, Node* b, const char* compare) {
  const bool other = std::string_view(compare) == "ne";
  Node* first = f.where(f.compare(compare, target, other ? -1 : 1), a, 0);
  Node* second = f.where(f.compare(compare, target, other ? 1 : -1), b, 0);
  return f.add(first, second);
}

}  // namespace

void hinge_embedding_loss(Decomposition& to) {
  const Calls f(to);
  Node* x = to.self();
  Node* beyond = f("clamp", f.sub(to.number("margin"), x), 0);
  reduce_loss(to, by_sign(f, to.tensor("target"), x, beyond, "ne"));
}

void cosine_embedding_loss(Decomposition& to) {
  const Calls f(to);
  constexpr double kEpsilon = 1e-12;
  Node* a = to.self();
  Node* b = to.tensor("input2");
  Node* target = to.tensor("target");
  const std::vector<int64_t> dims = {static_cast<int64_t>(rank_of(target))};
  const auto product = [&](Node* x, Node* y) { return f.sum(f.mul(x, y), dims); };
  Node* lengths = f.mul(f.add(product(a, a), kEpsilon), f.add(product(b, b), kEpsilon));
  Node* cosine = f.div(product(a, b), f("sqrt", lengths));
  Node* apart = f("clamp", f.sub(cosine, to.number("margin")), 0);
  reduce_loss(to, by_sign(f, target, f.sub(1, cosine), apart, "eq"));
}

// max(d(a, p) - d(a, n) + margin, 0)
void triplet_margin_loss(Decomposition& to) {
  const Calls f(to);
  const double order = to.number("p");
  const double eps = to.number("eps");
  const auto distance = [&](Node* a, Node* b) {
    return f("linalg_vector_norm", f.add(f.sub(a, b), eps), order, std::vector<int64_t>{-1});
  };
  Node* near = distance(to.self(), to.tensor("positive"));
  Node* far = distance(to.self(), to.tensor("negative"));
  if (to.boolean("swap")) {
    far = f("minimum", far, distance(to.tensor("positive"), to.tensor("negative")));
  }
  Node* loss = f("clamp", f.add(f.sub(near, far), to.number("margin")), 0);
  reduce_loss(to, loss);
}

void poisson_loss(Decomposition& to) {
  const Calls f(to);
  Node* x = to.self();
  Node* target = to.tensor("target");
  Node* loss = nullptr;
  if (to.boolean("log_input")) {
    loss = f.sub(f("exp", x), f.mul(target, x));
  } else {
    loss = f.sub(x, f.mul(target, f("log", f.add(x, to.number("eps")))));
  }
  if (to.boolean("full")) {
    // Stirling's formula of the target's factorial.
    Node* whole = f.sub(f.mul(target, f("log", target)), target);
    Node* rest = f.mul(f("log", f.mul(target, 2 * std::numbers::pi)), 0.5);
    loss = f.add(loss, f.where(f.compare("le", target, 1), 0, f.add(whole, rest)));
  }
  reduce_loss(to, loss);
}

namespace {

// The dim of the classes: the second, or of one dim that.
int64_t class_dim(const Node* x) { return rank_of(x) == 1 ? 0 : 1; }

// Weights of classes as a tensor that broadcasts along the dim of classes.
Node* along_classes(Decomposition& to, Node* weight, const Node* x) {
  std::vector<SymInt> sizes(rank_of(x), SymInt(1));
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
  const Calls f(to);
  const int64_t dim = class_dim(logs);
  Node* counts = f.compare("ne", target, ignored);
  Node* safe = f.where(counts, target, 0);
  Node* picked = f("gather", logs, dim, f.unsqueeze(safe, dim));
  ClassLoss result;
  result.loss = f("neg", f.squeeze(picked, dim));
  Node* weights = nullptr;
  if (weight != nullptr) {
    weights = f.index(weight, {safe});
    result.loss = f.mul(result.loss, weights);
  } else {
    weights = f.full(target->tensor()->sizes, 1, logs->tensor()->dtype);
  }
  result.weights = f.where(counts, weights, 0);
  result.loss = f.where(counts, result.loss, 0);
  return result;
}

// Means are by weight.
Node* reduced(Decomposition& to, Node* loss, Node* weights, int64_t reduction) {
  const Calls f(to);
  if (reduction == 0) return loss;
  Node* total = f.sum(loss, {});
  if (reduction == 2) return total;
  if (reduction != 1) to.refuse("its reduction is unknown");
  return f.div(total, f.sum(weights, {}));
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
  const Calls f(to);
  const int64_t reduction = to.integer("reduction");
  const ClassLoss found = loss_of_classes(to, to.self(), to.tensor("target"),
                                          to.optional_tensor("weight"), to.integer("ignore_index"));
  Node* total =
      reduction == 0 ? to.scalar(0, found.loss->tensor()->dtype) : f.sum(found.weights, {});
  const std::array<Node*, 2> results = {reduced(to, found.loss, found.weights, reduction), total};
  to.replace_items(results);
}

namespace {

// Targets that are probabilities: -sum(weight * target * logs), its mean by the batch.
void cross_entropy_of_probabilities(Decomposition& to, Node* logs, Node* weight, int64_t reduction,
                                    double smoothing) {
  const Calls f(to);
  Node* target = to.tensor("target");
  const int64_t dim = class_dim(logs);
  const SymInt& classes = size_at(logs, static_cast<size_t>(dim));
  if (smoothing > 0) {
    if (!classes.is_static()) to.refuse("it smooths a symbolic number of classes");
    target = f.add(f.mul(target, 1 - smoothing), smoothing / static_cast<double>(classes.value()));
  }
  Node* products = f.mul(logs, target);
  if (weight != nullptr) products = f.mul(products, along_classes(to, weight, logs));
  if (reduction == 0) return to.replace(f("neg", f.sum(products, {dim})));
  Node* total = f("neg", f.sum(products, {}));
  if (reduction == 2) return to.replace(total);
  if (reduction != 1) to.refuse("its reduction is unknown");
  std::vector<SymInt> each = logs->tensor()->sizes;
  each.erase(each.begin() + dim);
  const SymInt count = product_of(each);
  if (!count.is_static()) to.refuse("it takes the mean of a symbolic batch");
  to.replace(f.div(total, static_cast<double>(count.value())));
}

}  // namespace

// (self, target, weight, reduction, ignore_index, label_smoothing)
void cross_entropy(Decomposition& to) {
  const Calls f(to);
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
    Node* all = weight == nullptr ? logs : f.mul(logs, along_classes(to, weight, logs));
    all = f("neg", f.sum(all, {dim}));
    all = f.where(f.compare("ne", target, ignored), all, 0);
    Node* smooth = reduced(to, all, found.weights, reduction);
    loss = f.add(f.mul(loss, 1 - smoothing),
                 f.mul(smooth, smoothing / static_cast<double>(classes.value())));
  }
  to.replace(loss);
}

}  // namespace vitrine::aot::decompositions
