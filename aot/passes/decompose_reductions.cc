// Decompositions of reductions: norms of vectors, deviations, tests of all elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "aot/passes/calls.h"

namespace vitrine::aot {
namespace {

using Sizes = std::vector<SymInt>;

// None, one dim or a list, as a list; none is all dims.
Argument dims_of(Decomposition& to, size_t index) {
  const Argument dims = to.arg(index, "dim");
  if (dims.get<int64_t>() != nullptr) return Argument::list({dims});
  return dims.is_none() ? Argument::list({}) : dims;
}

ArgumentList with_keepdim(ArgumentList args, bool keepdim) {
  if (keepdim) args.emplace_back(true);
  return args;
}

void sum(Decomposition& to) {
  to.replace(to.call("aten.sum.dim_IntList", {to.tensor(0), Argument::list({})}, to.spec(),
                     to.kwargs({"dtype"})));
}

struct Deviation {
  Argument dims;
  Argument correction;
  bool keepdim = false;
};

// .correction(self, dim, *, correction, keepdim), .dim(self, dim, unbiased, keepdim) and
// .default(self, unbiased)
Deviation read_deviation(Decomposition& to) {
  const std::string_view overload = to.node().target().overload();
  Deviation read;
  if (overload == "correction") {
    read.dims = to.arg(1, "dim");
    read.correction = to.arg(99, "correction", 1);
    if (read.correction.is_none()) read.correction = 1;
    read.keepdim = to.boolean(99, "keepdim", false);
    return read;
  }
  const bool has_dims = overload == "dim";
  if (has_dims) read.dims = to.arg(1, "dim");
  read.correction = to.boolean(has_dims ? 2 : 1, "unbiased", true) ? 1.0 : 0.0;
  read.keepdim = has_dims && to.boolean(3, "keepdim", false);
  return read;
}

Node* variance_of(Decomposition& to, const Deviation& read) {
  ArgumentMap kwargs = {{"correction", read.correction}};
  if (read.keepdim) kwargs.emplace_back("keepdim", true);
  return to.make("aten.var.correction", {to.tensor(0), read.dims}, std::move(kwargs));
}

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

Node* mean_of(Decomposition& to, const Deviation& read) {
  return to.make("aten.mean.dim",
                 with_keepdim({to.tensor(0), read.dims.is_none() ? Argument::list({}) : read.dims},
                              read.keepdim));
}
void variance_and_mean(Decomposition& to) {
  const Deviation read = read_deviation(to);
  const std::array<Node*, 2> results = {variance_of(to, read), mean_of(to, read)};
  to.replace_items(results);
}
void deviation_and_mean(Decomposition& to) {
  const Deviation read = read_deviation(to);
  const std::array<Node*, 2> results = {to.make("aten.sqrt.default", {variance_of(to, read)}),
                                        mean_of(to, read)};
  to.replace_items(results);
}

// (sum |x|^p)^(1/p), and its limits.
Node* vector_norm(Decomposition& to, Node* x, double order, const Argument& dims, bool keepdim) {
  const auto reduce = [&](const char* target, Node* values) {
    return to.make(target, with_keepdim({values, dims}, keepdim));
  };
  if (std::isinf(order)) {
    return reduce(order > 0 ? "aten.amax.default" : "aten.amin.default",
                  to.make("aten.abs.default", {x}));
  }
  if (order == 0) {
    Node* nonzero = to.make("aten.ne.Scalar", {x, 0});
    return reduce("aten.sum.dim_IntList", to.convert(nonzero, x->tensor()->dtype));
  }
  if (order == 1) return reduce("aten.sum.dim_IntList", to.make("aten.abs.default", {x}));
  const bool is_even = std::fmod(order, 2) == 0;
  if (!is_even) x = to.make("aten.abs.default", {x});
  const bool is_whole = std::trunc(order) == order && std::abs(order) < 1e9;
  const Argument exponent = is_whole ? Argument(static_cast<int64_t>(order)) : Argument(order);
  Node* total = reduce("aten.sum.dim_IntList", to.make("aten.pow.Tensor_Scalar", {x, exponent}));
  return to.make("aten.pow.Tensor_Scalar", {total, 1 / order});
}

double order_of(Decomposition& to) {
  const Argument order = to.arg(1, "ord", 2);
  if (const auto* value = order.get<double>()) return *value;
  if (const auto* value = order.get<int64_t>()) return static_cast<double>(*value);
  if (order.is_none()) return 2;
  to.refuse("its order is no number");
}

// (self, ord, dim, keepdim, *, dtype)
void norm(Decomposition& to) {
  Node* x = to.convert(to.tensor(0), to.spec().dtype);
  if (!is_floating(x->tensor()->dtype)) to.refuse("its input is no real number");
  to.replace(vector_norm(to, x, order_of(to), dims_of(to, 2), to.boolean(3, "keepdim", false)));
}

// dot(a, b) / (max(|a|, eps) max(|b|, eps))
void cosine_similarity(Decomposition& to) {
  const std::array<Node*, 2> operands = {to.tensor(0), to.tensor(1)};
  const std::vector<SymInt> sizes = to.broadcast_sizes(operands);
  const Argument dims = Argument::list({to.arg(2, "dim", 1)});
  const Argument eps = to.arg(3, "eps", 1e-8);
  const auto scaled = [&](Node* x) {
    if (x->tensor()->sizes != sizes) x = to.expand(x, sizes);
    Node* length = vector_norm(to, x, 2, dims, true);
    length = to.make("aten.clamp.default", {length, eps});
    return to.make("aten.div.Tensor", {x, length});
  };
  Node* product = to.make("aten.mul.Tensor", {scaled(operands[0]), scaled(operands[1])});
  to.replace(to.make("aten.sum.dim_IntList", {product, dims}));
}

// log(sum(exp(x))), with the largest taken out.
void log_sum_exp(Decomposition& to) {
  Node* x = to.tensor(0);
  if (!is_floating(x->tensor()->dtype)) x = to.convert(x, ScalarType::kFloat);
  const Argument dims = dims_of(to, 1);
  const bool keepdim = to.boolean(2, "keepdim", false);
  Node* largest = to.make("aten.amax.default", {x, dims, true});
  Node* infinite = to.make("aten.isinf.default", {largest});
  Node* zero = to.scalar(0, x->tensor()->dtype);
  largest = to.make("aten.where.self", {infinite, zero, largest});
  Node* powers = to.make("aten.exp.default", {to.make("aten.sub.Tensor", {x, largest})});
  Node* total = to.make("aten.sum.dim_IntList", with_keepdim({powers, dims}, keepdim));
  if (!keepdim) largest = to.reshape(largest, total->tensor()->sizes);
  to.replace(to.make("aten.add.Tensor", {to.make("aten.log.default", {total}), largest}));
}

// all(x) = not any(not x)
void all(Decomposition& to) {
  Node* x = to.make("aten.logical_not.default", {to.tensor(0)});
  const std::string_view overload = to.node().target().overload();
  ArgumentList args = to.node().args();
  args[0] = x;
  Node* any = to.make(overload == "dim" ? "aten.any.dim" : "aten.any.dims", std::move(args));
  to.replace(to.make("aten.logical_not.default", {any}));
}

void extremes(Decomposition& to) {
  const Argument dim = to.arg(99, "dim");
  const bool keepdim = to.boolean(99, "keepdim", false);
  const ArgumentList args = with_keepdim(
      {to.tensor(0), Argument::list(dim.is_none() ? ArgumentList() : ArgumentList{dim})}, keepdim);
  const std::array<Node*, 2> results = {to.make("aten.amin.default", args),
                                        to.make("aten.amax.default", args)};
  to.replace_items(results);
}

// Sorted order of the dim.
void argsort(Decomposition& to) {
  Node* sorted = nullptr;
  if (to.node().target().overload() == "stable") {
    sorted = to.make("aten.sort.stable", {to.tensor(0)},
                     {{"stable", to.arg(99, "stable")},
                      {"dim", to.arg(1, "dim", -1)},
                      {"descending", to.arg(2, "descending", false)}});
  } else {
    sorted = to.make("aten.sort.default",
                     {to.tensor(0), to.arg(1, "dim", -1), to.arg(2, "descending", false)});
  }
  to.replace(to.item(sorted, 1));
}

// Sums and means of what is a number.
void sum_of_numbers(Decomposition& to) {
  Node* x = to.tensor(0);
  const bool is_mean = to.node().target().op() == "nanmean";
  const Argument dims = dims_of(to, 1);
  const bool keepdim = to.boolean(2, "keepdim", false);
  if (!is_floating(x->tensor()->dtype)) x = to.convert(x, to.spec().dtype);
  Node* missing = to.make("aten.isnan.default", {x});
  Node* zero = to.scalar(0, x->tensor()->dtype);
  Node* numbers = to.make("aten.where.self", {missing, zero, x});
  Node* total = to.make("aten.sum.dim_IntList", with_keepdim({numbers, dims}, keepdim));
  total = to.convert(total, to.spec().dtype);
  if (!is_mean) return to.replace(total);
  Node* present = to.make("aten.logical_not.default", {missing});
  Node* count = to.make("aten.sum.dim_IntList", with_keepdim({present, dims}, keepdim));
  to.replace(to.make("aten.div.Tensor", {total, count}));
}

void count_nonzero(Decomposition& to) {
  Node* is_set = to.make("aten.ne.Scalar", {to.tensor(0), 0});
  to.replace(to.make("aten.sum.dim_IntList", {is_set, dims_of(to, 1)}));
}

// The smallest and the like of the sorted elements: values and where they are.
Node* sorted(Decomposition& to, Node* x, const Argument& dim, bool descending) {
  return to.make("aten.sort.default", {x, dim, descending});
}
void sort_first_dim(Decomposition& to) {
  const Argument descending = to.arg(1, "descending", false);
  to.replace(to.item(to.make("aten.sort.default", {to.tensor(0), 0, descending}), 0));
}

// The element at a place of the sorted dim: of a median the lower one in the middle.
void element_by_rank(Decomposition& to) {
  Node* x = to.tensor(0);
  const bool is_median = to.node().target().op() == "median";
  const bool of_all = is_median && to.node().target().overload() == "default";
  const size_t dim_at = is_median ? 1 : 2;
  if (of_all) {
    SymInt count = 1;
    for (const SymInt& size : x->tensor()->sizes) count = count * size;
    x = to.reshape(x, {count});
  }
  const int64_t dim = of_all ? 0 : to.integer(dim_at, "dim", -1);
  bool keepdim = !of_all && to.boolean(dim_at + 1, "keepdim", false);
  const size_t at = wrapped(dim, x->tensor()->rank());
  const bool is_scalar = x->tensor()->rank() == 0;
  if (is_scalar) {
    x = to.reshape(x, {1});
    keepdim = false;
  }
  if (!x->tensor()->sizes[at].is_static()) to.refuse("it sorts no known size");
  const int64_t length = x->tensor()->sizes[at].value();
  const int64_t rank = is_median ? (length + 1) / 2 : to.integer(1, "k", 1);
  if (rank < 1 || rank > length) to.refuse("there is no such element");
  const int64_t place = rank - 1;
  // What is no number counts as the greatest; of it a median is none either.
  Node* order = sorted(to, x, dim, false);
  const auto pick = [&](Node* all) {
    Node* found = to.make("aten.slice.Tensor", {all, dim, place, place + 1});
    return keepdim ? found : to.make("aten.squeeze.dims", {found, std::vector<int64_t>{dim}});
  };
  Node* values = pick(to.item(order, 0));
  if (is_median && is_floating(x->tensor()->dtype)) {
    Node* missing = to.make("aten.isnan.default", {x});
    ArgumentList args = {missing, dim};
    missing = to.make("aten.any.dim", with_keepdim(std::move(args), keepdim));
    Node* none = to.scalar(std::numeric_limits<double>::quiet_NaN(), x->tensor()->dtype);
    values = to.make("aten.where.self", {missing, none, values});
  }
  if (of_all) return to.replace(values);
  const std::array<Node*, 2> results = {values, pick(to.item(order, 1))};
  to.replace_items(results);
}

// (self, q, dim, keepdim, *, interpolation): between the sorted elements at q * (length - 1).
void quantile(Decomposition& to) {
  const Calls f(to);
  Node* x = to.tensor(0);
  const ScalarType dtype = x->tensor()->dtype;
  const bool keepdim = to.boolean(3, "keepdim", false);
  const Argument dim = to.arg(2, "dim");
  Sizes rest = x->tensor()->sizes;  // of the result, behind those of q
  size_t at = 0;
  const auto* given = dim.get<int64_t>();
  const bool is_along = given != nullptr && !rest.empty();
  if (is_along) {
    at = wrapped(*given, rest.size());
    rest[at] = 1;
    if (!keepdim) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    x = to.reshape(x, {product_of(rest)});
    rest.assign(keepdim ? rest.size() : 0, SymInt(1));
  }
  const SymInt length = size_at(x, at);
  if (!length.is_static() || length.value() == 0) to.refuse("it sorts no known size");

  const Argument asked = to.arg(1, "q");
  const bool is_tensor = asked.node() != nullptr && asked.node()->tensor() != nullptr;
  Node* q = is_tensor ? asked.node() : to.scalar(asked, dtype);
  Sizes result_sizes = q->tensor()->sizes;
  result_sizes.insert(result_sizes.end(), rest.begin(), rest.end());
  q = to.reshape(q, {product_of(q->tensor()->sizes)});
  Node* place = f.mul(q, static_cast<double>(length.value() - 1));

  const auto here = static_cast<int64_t>(at);
  Node* sorted = to.item(to.make("aten.sort.default", {x, here, false}), 0);
  std::vector<int64_t> order(rank_of(x));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::rotate(order.begin(), order.begin() + here, order.begin() + here + 1);
  sorted = to.permute(sorted, order);
  const auto elements = [&](std::string_view rounding) {
    return f.index(sorted, {to.convert(f(rounding, place), ScalarType::kLong)});
  };
  const Argument word = to.arg(99, "interpolation", "linear");
  const std::string way = word.get<std::string>() == nullptr ? "" : *word.get<std::string>();
  Node* result = nullptr;
  if (way == "lower") result = elements("floor");
  if (way == "higher") result = elements("ceil");
  if (way == "nearest") result = elements("round");
  if (way == "linear" || way == "midpoint") {
    Node* weight = f.sub(place, f("floor", place));
    if (way == "midpoint") weight = f.where(f.compare("gt", weight, 0), 0.5, weight);
    Sizes column(rank_of(x), SymInt(1));
    column[0] = size_at(q, 0);
    Node* below = elements("floor");
    Node* step = f.mul(to.reshape(weight, column), f.sub(elements("ceil"), below));
    result = f.add(below, step);
  }
  if (result == nullptr) to.refuse("its interpolation is not known");
  // Among what is no number there is none.
  Node* missing = to.make("aten.any.dim", with_keepdim({f("isnan", x), here}, is_along && keepdim));
  to.replace(
      f.where(missing, std::numeric_limits<double>::quiet_NaN(), to.reshape(result, result_sizes)));
}

constexpr std::array kReductionDecompositions = {
    DecompositionRow{"aten.all.default", all},
    DecompositionRow{"aten.all.dim", all},
    DecompositionRow{"aten.all.dims", all},
    DecompositionRow{"aten.aminmax.default", extremes},
    DecompositionRow{"aten.argsort.default", argsort},
    DecompositionRow{"aten.argsort.stable", argsort},
    DecompositionRow{"aten.cosine_similarity.default", cosine_similarity},
    DecompositionRow{"aten.count_nonzero.default", count_nonzero},
    DecompositionRow{"aten.count_nonzero.dim_IntList", count_nonzero},
    DecompositionRow{"aten.kthvalue.default", element_by_rank},
    DecompositionRow{"aten.linalg_vector_norm.default", norm},
    DecompositionRow{"aten.logsumexp.default", log_sum_exp},
    DecompositionRow{"aten.median.default", element_by_rank},
    DecompositionRow{"aten.median.dim", element_by_rank},
    DecompositionRow{"aten.msort.default", sort_first_dim},
    DecompositionRow{"aten.nanmean.default", sum_of_numbers},
    DecompositionRow{"aten.nansum.default", sum_of_numbers},
    DecompositionRow{"aten.norm.Scalar", norm},
    DecompositionRow{"aten.norm.ScalarOpt_dim", norm},
    DecompositionRow{"aten.norm.ScalarOpt_dim_dtype", norm},
    DecompositionRow{"aten.norm.ScalarOpt_dtype", norm},
    DecompositionRow{"aten.quantile.default", quantile},
    DecompositionRow{"aten.quantile.scalar", quantile},
    DecompositionRow{"aten.std.correction", deviation},
    DecompositionRow{"aten.std.default", deviation},
    DecompositionRow{"aten.std.dim", deviation},
    DecompositionRow{"aten.std_mean.correction", deviation_and_mean},
    DecompositionRow{"aten.std_mean.default", deviation_and_mean},
    DecompositionRow{"aten.std_mean.dim", deviation_and_mean},
    DecompositionRow{"aten.sum.default", sum},
    DecompositionRow{"aten.var.default", variance},
    DecompositionRow{"aten.var.dim", variance},
    DecompositionRow{"aten.var_mean.default", variance_and_mean},
    DecompositionRow{"aten.var_mean.dim", variance_and_mean},
};

}  // namespace

std::span<const DecompositionRow> reduction_decompositions() { return kReductionDecompositions; }

}  // namespace vitrine::aot
