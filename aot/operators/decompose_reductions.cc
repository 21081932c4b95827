#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// Returns the argument "dim" (None, an integer or a list) as a list. An empty list means all dims.
Argument dims_of(Decomposition& to) {
  const Argument dims = to.arg("dim");
  if (dims.get<int64_t>() != nullptr) return Argument::list({dims});
  return dims.is_none() ? Argument::list({}) : dims;
}

ArgumentList with_keepdim(ArgumentList args, bool keepdim) {
  if (keepdim) args.emplace_back(true);
  return args;
}

}  // namespace

void sum(Decomposition& to) {
  to.replace(to.call("aten.sum.dim_IntList", {to.self(), Argument::list({})}, to.spec(),
                     to.kwargs({"dtype"})));
}

namespace {

struct Deviation {
  Argument dims;
  Argument correction;
  bool keepdim = false;
};

Deviation read_deviation(Decomposition& to) {
  Deviation read = {to.arg("dim"), {}, to.boolean("keepdim", false)};
  if (to.node().target().overload() == "correction") {
    read.correction = to.arg("correction", 1);
  } else {
    read.correction = to.boolean("unbiased") ? 1.0 : 0.0;
  }
  return read;
}

Node* variance_of(Decomposition& to, const Deviation& read) {
  ArgumentMap kwargs = {{"correction", read.correction}};
  if (read.keepdim) kwargs.emplace_back("keepdim", true);
  return to.make("aten.var.correction", {to.self(), read.dims}, std::move(kwargs));
}

}  // namespace

void variance(Decomposition& to) {
  Deviation read = read_deviation(to);
  if (const auto* value = read.correction.get<double>()) {
    read.correction = static_cast<int64_t>(*value);
  }
  to.replace(variance_of(to, read));
}
void deviation(Decomposition& to) {
  to.replace(to.make("aten.sqrt.default", {variance_of(to, read_deviation(to))}));
}

namespace {

Node* mean_of(Decomposition& to, const Deviation& read) {
  return to.make("aten.mean.dim",
                 with_keepdim({to.self(), read.dims.is_none() ? Argument::list({}) : read.dims},
                              read.keepdim));
}

}  // namespace

void variance_and_mean(Decomposition& to) {
  const Deviation read = read_deviation(to);
  to.replace_items({variance_of(to, read), mean_of(to, read)});
}

void deviation_and_mean(Decomposition& to) {
  const Deviation read = read_deviation(to);
  to.replace_items({to.make("aten.sqrt.default", {variance_of(to, read)}), mean_of(to, read)});
}

namespace {

// Computes the p-norm (sum |x|^p)^(1/p), or its limit for p = 0, inf and -inf.
Node* vector_norm(Decomposition& to, Node* x, double order, const Argument& dims, bool keepdim) {
  const auto reduce = [&](const char* target, Node* values) {
    return to.make(target, with_keepdim({values, dims}, keepdim));
  };
  if (std::isinf(order)) {
    return reduce(order > 0 ? "aten.amax.default" : "aten.amin.default", to("abs", x));
  }
  if (order == 0) {
    Node* nonzero = to.compare("ne", x, 0);
    return reduce("aten.sum.dim_IntList", to.convert(nonzero, x->tensor()->dtype));
  }
  if (order == 1) return reduce("aten.sum.dim_IntList", to("abs", x));
  const bool is_even = std::fmod(order, 2) == 0;
  if (!is_even) x = to("abs", x);
  const bool is_integer = std::trunc(order) == order && std::abs(order) < 1e9;
  const Argument exponent = is_integer ? Argument(static_cast<int64_t>(order)) : Argument(order);
  Node* total = reduce("aten.sum.dim_IntList", to.pow(x, exponent));
  return to.pow(total, 1 / order);
}

double order_of(Decomposition& to) {
  return to.number(to.node().target().op() == "norm" ? "p" : "ord", 2);
}

}  // namespace

void norm(Decomposition& to) {
  Node* x = to.convert(to.self(), to.spec().dtype);
  if (!is_floating(x->tensor()->dtype)) to.refuse("the input must have a float dtype");
  to.replace(vector_norm(to, x, order_of(to), dims_of(to), to.boolean("keepdim", false)));
}

// Computes dot(a, b) / (max(|a|, eps) max(|b|, eps)).
void cosine_similarity(Decomposition& to) {
  const std::array<Node*, 2> operands = {to.self(), to.tensor("x2")};
  const Sizes sizes = to.broadcast_sizes(operands);
  const Argument dims = Argument::list({to.value("dim")});
  const Argument eps = to.value("eps");
  const auto scaled = [&](Node* x) {
    if (x->tensor()->sizes != sizes) x = to.expand(x, sizes);
    Node* length = vector_norm(to, x, 2, dims, true);
    length = to("clamp", length, eps);
    return to.div(x, length);
  };
  Node* product = to.make("aten.mul.Tensor", {scaled(operands[0]), scaled(operands[1])});
  to.replace(to.make("aten.sum.dim_IntList", {product, dims}));
}

// Computes log(sum(exp(x))). Factors out the largest element, so that nothing overflows.
void log_sum_exp(Decomposition& to) {
  Node* x = to.self();
  if (!is_floating(x->tensor()->dtype)) x = to.convert(x, ScalarType::kFloat);
  const Argument dims = dims_of(to);
  const bool keepdim = to.boolean("keepdim");
  Node* largest = to("amax", x, dims, true);
  Node* infinite = to("isinf", largest);
  Node* zero = to.scalar(0, x->tensor()->dtype);
  largest = to.where(infinite, zero, largest);
  Node* powers = to("exp", to.sub(x, largest));
  Node* total = to.make("aten.sum.dim_IntList", with_keepdim({powers, dims}, keepdim));
  if (!keepdim) largest = to.reshape(largest, total->tensor()->sizes);
  to.replace(to.make("aten.add.Tensor", {to("log", total), largest}));
}

void all(Decomposition& to) {
  Node* x = to("logical_not", to.self());
  const std::string_view overload = to.node().target().overload();
  ArgumentList args = to.node().args();
  args[0] = x;
  Node* any = to.make(overload == "dim" ? "aten.any.dim" : "aten.any.dims", std::move(args));
  to.replace(to("logical_not", any));
}

void extremes(Decomposition& to) {
  const Argument dim = to.arg("dim");
  const bool keepdim = to.boolean("keepdim");
  const ArgumentList args = with_keepdim(
      {to.self(), Argument::list(dim.is_none() ? ArgumentList() : ArgumentList{dim})}, keepdim);
  to.replace_items({to.make("aten.amin.default", args), to.make("aten.amax.default", args)});
}

void argsort(Decomposition& to) {
  Node* sorted = nullptr;
  if (to.node().target().overload() == "stable") {
    sorted = to.make("aten.sort.stable", {to.self()},
                     {{"stable", to.arg("stable")},
                      {"dim", to.value("dim")},
                      {"descending", to.value("descending")}});
  } else {
    sorted = to.make("aten.sort.default", {to.self(), to.value("dim"), to.value("descending")});
  }
  to.replace(to.item(sorted, 1));
}

// Decomposes nansum and nanmean, which ignore NaN.
void sum_of_numbers(Decomposition& to) {
  Node* x = to.self();
  const bool is_mean = to.node().target().op() == "nanmean";
  const Argument dims = dims_of(to);
  const bool keepdim = to.boolean("keepdim");
  if (!is_floating(x->tensor()->dtype)) x = to.convert(x, to.spec().dtype);
  Node* missing = to("isnan", x);
  Node* zero = to.scalar(0, x->tensor()->dtype);
  Node* numbers = to.where(missing, zero, x);
  Node* total = to.make("aten.sum.dim_IntList", with_keepdim({numbers, dims}, keepdim));
  total = to.convert(total, to.spec().dtype);
  if (!is_mean) return to.replace(total);
  Node* present = to("logical_not", missing);
  Node* count = to.make("aten.sum.dim_IntList", with_keepdim({present, dims}, keepdim));
  to.replace(to.div(total, count));
}

void count_nonzero(Decomposition& to) {
  Node* is_set = to.make("aten.ne.Scalar", {to.self(), 0});
  to.replace(to.make("aten.sum.dim_IntList", {is_set, dims_of(to)}));
}

namespace {

// Sorts along a dim. Returns the sorted values and their indices.
Node* sorted(Decomposition& to, Node* x, const Argument& dim, bool descending) {
  return to("sort", x, dim, descending);
}

}  // namespace

void sort_first_dim(Decomposition& to) {
  const Argument descending = to.arg("descending", false);
  to.replace(to.item(to.make("aten.sort.default", {to.self(), 0, descending}), 0));
}

// Decomposes median and kthvalue. The median of an even number of elements is the lower of the two
// middle elements.
void element_by_rank(Decomposition& to) {
  Node* x = to.self();
  const bool is_median = to.node().target().op() == "median";
  const bool reduces_all = is_median && to.node().target().overload() == "default";
  if (reduces_all) {
    x = to.reshape(x, {product_of(x->tensor()->sizes)});
  }
  const int64_t dim = reduces_all ? 0 : to.integer("dim");
  bool keepdim = !reduces_all && to.boolean("keepdim");
  const size_t at = wrapped(dim, x->tensor()->rank());
  const bool is_scalar = x->tensor()->rank() == 0;
  if (is_scalar) {
    x = to.reshape(x, {1});
    keepdim = false;
  }
  if (!x->tensor()->sizes[at].is_static()) to.refuse("the sorted dim must not be symbolic");
  const int64_t length = x->tensor()->sizes[at].value();
  const int64_t rank = is_median ? (length + 1) / 2 : to.integer("k");
  if (length == 0) to.refuse("the dim must not be empty");
  if (rank < 1 || rank > length) to.refuse("k must be from 1 to the size of the dim");
  const int64_t index = rank - 1;
  // NaN sorts last, but the median must be NaN if any element is NaN.
  Node* order = sorted(to, x, dim, false);
  const auto select = [&](Node* all) {
    Node* found = to.make("aten.slice.Tensor", {all, dim, index, index + 1});
    return keepdim ? found : to.squeeze(found, dim);
  };
  Node* values = select(to.item(order, 0));
  if (is_median && is_floating(x->tensor()->dtype)) {
    Node* missing = to("isnan", x);
    ArgumentList args = {missing, dim};
    missing = to.make("aten.any.dim", with_keepdim(std::move(args), keepdim));
    Node* none = to.scalar(std::numeric_limits<double>::quiet_NaN(), x->tensor()->dtype);
    values = to.where(missing, none, values);
  }
  if (reduces_all) return to.replace(values);
  to.replace_items({values, select(to.item(order, 1))});
}

namespace {

struct QuantileDim {
  Node* input = nullptr;  // self, flattened if the call omits the dim
  size_t dim = 0;
  bool keepdim = false;
  Sizes rest;  // sizes of the result after those of q
};

QuantileDim quantile_dim(Decomposition& to) {
  QuantileDim found;
  found.input = to.self();
  const bool keepdim = to.boolean("keepdim");
  const Argument dim = to.arg("dim");
  Sizes& rest = found.rest;
  rest = found.input->tensor()->sizes;
  const auto* number = dim.get<int64_t>();
  if (number != nullptr && !rest.empty()) {
    found.dim = wrapped(*number, rest.size());
    found.keepdim = keepdim;
    rest[found.dim] = 1;
    if (!keepdim) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(found.dim));
  } else {
    found.input = to.reshape(found.input, {product_of(rest)});
    rest.assign(keepdim ? rest.size() : 0, SymInt(1));
  }
  return found;
}

// Interpolates along the first dim of `sorted` at `position`, which may be between two elements.
Node* interpolated(Decomposition& to, Node* sorted, Node* position) {
  const auto elements = [&](std::string_view rounding) {
    return to.index(sorted, {to.convert(to(rounding, position), ScalarType::kLong)});
  };
  const Argument word = to.value("interpolation");
  const std::string method = word.get<std::string>() == nullptr ? "" : *word.get<std::string>();
  if (method == "lower") return elements("floor");
  if (method == "higher") return elements("ceil");
  if (method == "nearest") return elements("round");
  if (method != "linear" && method != "midpoint") to.refuse("unknown interpolation");
  Node* weight = to.sub(position, to("floor", position));
  if (method == "midpoint") weight = to.where(to.compare("gt", weight, 0), 0.5, weight);
  Sizes column(rank_of(sorted), SymInt(1));
  column[0] = size_at(position, 0);
  Node* below = elements("floor");
  Node* step = to.mul(to.reshape(weight, column), to.sub(elements("ceil"), below));
  return to.add(below, step);
}

}  // namespace

// Decomposes quantile(self, q, dim, keepdim, *, interpolation): sorts the elements, and
// interpolates at the position q * (length - 1).
void quantile(Decomposition& to) {
  const ScalarType dtype = to.self()->tensor()->dtype;
  const QuantileDim along = quantile_dim(to);
  Node* x = along.input;
  const SymInt length = size_at(x, along.dim);
  if (!length.is_static() || length.value() == 0) {
    to.refuse("the sorted dim must not be empty or symbolic");
  }

  const Argument argument = to.arg("q");
  const bool is_tensor = argument.node() != nullptr && argument.node()->tensor() != nullptr;
  Node* q = is_tensor ? argument.node() : to.scalar(argument, dtype);
  Sizes result_sizes = q->tensor()->sizes;
  result_sizes.insert(result_sizes.end(), along.rest.begin(), along.rest.end());
  q = to.reshape(q, {product_of(q->tensor()->sizes)});
  Node* position = to.mul(q, static_cast<double>(length.value() - 1));

  const auto dim = static_cast<int64_t>(along.dim);
  Dims order(rank_of(x));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::rotate(order.begin(), order.begin() + dim, order.begin() + dim + 1);
  Node* sorted = to.permute(to.item(to("sort", x, dim, false), 0), order);
  Node* result = interpolated(to, sorted, position);
  // The quantile is NaN if any element is NaN.
  Node* missing = to.make("aten.any.dim", with_keepdim({to("isnan", x), dim}, along.keepdim));
  to.replace(to.where(missing, std::numeric_limits<double>::quiet_NaN(),
                      to.reshape(result, result_sizes)));
}

}  // namespace vitrine::aot::decompositions
