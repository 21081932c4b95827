// Decompositions of operators that read or write by index or mask.

#include "aot/passes/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// None for each dim before `dim`, then the index.
ArgumentList at_dim(size_t dim, Node* index) {
  ArgumentList indices(dim);
  indices.emplace_back(index);
  return indices;
}

Node* put(Decomposition& to, Node* x, ArgumentList indices, Node* values, bool accumulate) {
  ArgumentList args = {x, Argument::list(std::move(indices)), values};
  if (accumulate) args.emplace_back(true);
  return to.make("aten.index_put.default", std::move(args));
}

// Writes `values` at the index of a dim. A tensor without dims counts as having one.
void put_along(Decomposition& to, Node* index, Node* values, bool accumulate) {
  Node* x = to.self();
  const bool is_scalar = rank_of(x) == 0;
  const size_t dim = wrapped(to.integer("dim"), rank_of(x));
  if (rank_of(index) > 1) to.refuse("the index has several dims");
  if (rank_of(index) == 0) index = to.unsqueeze(index, 0);
  if (is_scalar) x = to.unsqueeze(x, 0);
  if (rank_of(values) < rank_of(x)) values = to.unsqueeze(values, static_cast<int64_t>(dim));
  Node* result = put(to, x, at_dim(dim, index), values, accumulate);
  to.replace(is_scalar ? to.squeeze(result, 0) : result);
}

}  // namespace

void index_add(Decomposition& to) {
  Node* source = to.tensor("source");
  if (const Argument alpha = to.value("alpha"); !(alpha == Argument(1))) {
    source = to.mul(source, alpha);
  }
  put_along(to, to.tensor("index"), to.convert(source, to.spec().dtype), true);
}

void index_copy(Decomposition& to) {
  put_along(to, to.tensor("index"), to.tensor("source"), false);
}

void index_fill(Decomposition& to) {
  Node* x = to.self();
  Node* index = to.tensor("index");
  const Argument given = to.arg("value");
  const bool is_tensor = given.node() != nullptr && given.node()->tensor() != nullptr;
  const ScalarType dtype = to.spec().dtype;
  Node* value = is_tensor ? to.convert(given.node(), dtype) : to.scalar(given, dtype);
  Sizes sizes = x->tensor()->sizes;
  if (sizes.empty()) sizes.emplace_back(1);
  const SymInt count = rank_of(index) == 0 ? SymInt(1) : size_at(index, 0);
  sizes.at(wrapped(to.integer("dim"), rank_of(x))) = count;
  put_along(to, index, to.expand(value, sizes), false);
}

// Takes from the elements in row-major order.
void take(Decomposition& to) {
  Node* flat = to.reshape(to.self(), {product_of(to.self()->tensor()->sizes)});
  to.replace(to.index(flat, {to.tensor("index")}));
}

void put_flat(Decomposition& to) {
  const Sizes sizes = to.spec().sizes;
  Node* flat = to.reshape(to.self(), {product_of(sizes)});
  Node* index = to.reshape(to.tensor("index"), {product_of(to.tensor("index")->tensor()->sizes)});
  Node* values =
      to.reshape(to.tensor("source"), {product_of(to.tensor("source")->tensor()->sizes)});
  Node* result = put(to, flat, {index}, values, to.boolean("accumulate"));
  to.replace(to.reshape(result, sizes));
}

// gather, after both have the same sizes but along the dim.
void take_along_dim(Decomposition& to) {
  Node* x = to.self();
  Node* index = to.tensor("indices");
  if (to.arg("dim").is_none()) {
    x = to.reshape(x, {product_of(x->tensor()->sizes)});
    index = to.reshape(index, {product_of(index->tensor()->sizes)});
    return to.replace(to("gather", x, 0, index));
  }
  const int64_t dim = to.integer("dim", 0);
  const size_t at = wrapped(dim, rank_of(x));
  if (rank_of(x) != rank_of(index) || rank_of(x) == 0)
    to.refuse("the index has the wrong number of dims");
  Sizes of_x = x->tensor()->sizes;
  Sizes of_index = index->tensor()->sizes;
  for (size_t i = 0; i < of_x.size(); ++i) {
    if (i == at) continue;
    if (of_x[i] == SymInt(1)) of_x[i] = of_index[i];
    if (of_index[i] == SymInt(1)) of_index[i] = of_x[i];
  }
  if (!same(of_x, x->tensor()->sizes)) x = to.expand(x, of_x);
  if (!same(of_index, index->tensor()->sizes)) index = to.expand(index, of_index);
  to.replace(to("gather", x, dim, index));
}

// An index list with a slot for each dim, or `_unsafe_index`: the checks are left to the kernel.
void plain_index(Decomposition& to) {
  to.replace(to.call("aten.index.Tensor", to.node().args(), to.node().meta.value));
}
void plain_index_put(Decomposition& to) {
  to.replace(to.call("aten.index_put.default", to.node().args(), to.node().meta.value,
                     to.kwargs({"accumulate"})));
}

namespace {

// The value that each row of the dim gets from the index's row, by comparing all with all.
Node* scattered_extreme(Decomposition& to, const std::string& reduce, Node* x, Node* index,
                        Node* source, size_t dim, bool include_self) {
  const auto last = static_cast<int64_t>(rank_of(x)) - 1;
  const ScalarType dtype = x->tensor()->dtype;
  for (size_t i = 0; i < rank_of(x); ++i) {
    if (i != dim && !same(size_at(index, i), size_at(x, i))) {
      to.refuse("its index does not cover the dims beside its own");
    }
    if (same(size_at(source, i), size_at(index, i))) continue;
    source = to.slice(source, i, 0, to.size(size_at(index, i)));
  }
  Node* rows = to.unsqueeze(to.count(0, size_at(x, dim)), -1);
  index = to.unsqueeze(to.transpose(index, static_cast<int64_t>(dim), last), -2);
  source = to.unsqueeze(to.transpose(source, static_cast<int64_t>(dim), last), -2);
  Node* is_of_row = to.compare("eq", index, rows);
  const bool is_product = reduce == "prod";
  Argument neutral = 1;
  if (!is_product) {
    if (!is_floating(dtype)) to.refuse("it takes extremes of integers");
    neutral = reduce == "amax" ? -kInfinity : kInfinity;
  }
  Node* candidates = to.where(is_of_row, source, neutral);
  Node* found = is_product
                    ? to.make("aten.prod.dim_int", {candidates, -1},
                              is_floating(dtype) ? ArgumentMap{} : ArgumentMap{{"dtype", dtype}})
                : reduce == "amax" ? to.greatest(candidates, {-1})
                                   : to.least(candidates, {-1});
  found = to.transpose(found, static_cast<int64_t>(dim), last);
  if (include_self) {
    return is_product         ? to.mul(x, found)
           : reduce == "amax" ? to("maximum", x, found)
                              : to("minimum", x, found);
  }
  Node* any = to.make("aten.any.dim", {is_of_row, -1});
  return to.where(to.transpose(any, static_cast<int64_t>(dim), last), found, x);
}

}  // namespace

// scatter_reduce, and scatter with a reduction.
void scatter_reduce(Decomposition& to) {
  Node* x = to.self();
  const int64_t dim = to.integer("dim");
  Node* index = to.tensor("index");
  const bool is_scatter = to.node().target().op() == "scatter";
  const Argument word = to.arg("reduce");
  if (word.get<std::string>() == nullptr) to.refuse("the reduction is not a string");
  std::string reduce = *word.get<std::string>();
  if (is_scatter) reduce = reduce == "add" ? "sum" : "prod";
  const ScalarType dtype = x->tensor()->dtype;
  const Argument given = to.arg(to.node().target().overload() == "value_reduce" ? "value" : "src");
  const bool is_number = given.node() == nullptr || given.node()->tensor() == nullptr;
  Node* source =
      is_number ? to.expand(to.scalar(given, dtype), index->tensor()->sizes) : given.node();
  if (rank_of(x) == 0 || rank_of(index) != rank_of(x) || rank_of(source) != rank_of(x)) {
    to.refuse("its operands have other dims");
  }
  const bool include_self = is_scatter || to.boolean("include_self", true);
  if (reduce == "sum" || reduce == "mean") {
    Node* start = include_self ? x : to.make("aten.scatter.value", {x, dim, index, 0});
    Node* total = to("scatter_add", start, dim, index, source);
    if (reduce == "sum") return to.replace(total);
    if (!is_floating(dtype)) to.refuse("it takes means of integers");
    Node* counts = to.full(x->tensor()->sizes, include_self ? 1 : 0, dtype);
    Node* ones = to.full(index->tensor()->sizes, 1, dtype);
    counts = to("clamp", to("scatter_add", counts, dim, index, ones), 1);
    return to.replace(to.div(total, counts));
  }
  if (reduce != "prod" && reduce != "amax" && reduce != "amin") {
    to.refuse("its reduction is unknown");
  }
  to.replace(
      scattered_extreme(to, reduce, x, index, source, wrapped(dim, rank_of(x)), include_self));
}

// Whether an element is among others, by comparing all with all.
void is_in(Decomposition& to) {
  const auto tensor = [&](size_t index) {
    const Argument given = to.operand(index);
    const bool is_tensor = given.node() != nullptr && given.node()->tensor() != nullptr;
    if (is_tensor) return given.node();
    return to.scalar(given,
                     given.get<double>() != nullptr ? ScalarType::kFloat : ScalarType::kLong);
  };
  Node* elements = tensor(0);
  Node* others = tensor(1);
  const SymInt count = product_of(others->tensor()->sizes);
  others = to.reshape(others, {count});
  Node* found = to.compare("eq", to.unsqueeze(elements, -1), others);
  found = to.make("aten.any.dim", {found, -1});
  const bool is_inverse = to.boolean("invert");
  to.replace(is_inverse ? to("logical_not", found) : found);
}

namespace {

// The number of sorted bounds before each value; equal ones count if `right`.
Node* place_among(Decomposition& to, Node* bounds, Node* values, bool right) {
  Node* is_after = to.compare(right ? "gt" : "ge", bounds, values);
  // Counts with the negated comparison, so that NaN sorts last.
  Node* count = to.make("aten.sum.dim_IntList", {to("logical_not", is_after), Dims{-1}});
  return to.convert(count, to.spec().dtype);
}

}  // namespace

void bucketize(Decomposition& to) {
  Node* values = to.self();
  to.replace(
      place_among(to, to.tensor("boundaries"), to.unsqueeze(values, -1), to.boolean("right")));
}
void search_sorted(Decomposition& to) {
  Node* bounds = to.self();
  Node* values = to.tensor("self");
  if (!to.arg("sorter").is_none()) to.refuse("it has a sorter");
  const Argument side = to.arg("side");
  const bool right = side.get<std::string>() != nullptr ? *side.get<std::string>() == "right"
                                                        : to.boolean("right");
  if (rank_of(bounds) > 1) bounds = to.unsqueeze(bounds, -2);
  to.replace(place_among(to, bounds, to.unsqueeze(values, -1), right));
}

// Rows of a table, joined by bags: the bag of an element is the last that begins at or before it.
void embedding_bag(Decomposition& to) {
  Node* table = to.self();
  Node* indices = to.tensor("indices");
  Node* offsets = to.tensor("offsets");
  const int64_t mode = to.integer("mode", 0);  // 0: sum, 1: mean, 2: the greatest
  if (mode != 0 && mode != 1) to.refuse("it takes the greatest of a bag");
  if (rank_of(indices) != 1 || rank_of(offsets) != 1) to.refuse("its bags are not vectors");
  const ScalarType dtype = table->tensor()->dtype;
  Node* rows = to("embedding", table, indices);
  Node* weights = to.optional_tensor("per_sample_weights");
  if (weights != nullptr) rows = to.mul(rows, to.unsqueeze(weights, -1));
  if (to.boolean("include_last_offset", false)) {
    offsets = to.slice(offsets, 0, 0, to.size(size_at(offsets, 0) - SymInt(1)));
  }
  const bool has_padding = !to.arg("padding_idx").is_none();
  Node* counted = nullptr;  // 1 for each element that counts
  if (has_padding) {
    int64_t padding = to.integer("padding_idx", -1);
    if (padding < 0 && size_at(table, 0).is_static()) padding += size_at(table, 0).value();
    counted = to.convert(to.compare("ne", indices, padding), dtype);
    rows = to.mul(rows, to.unsqueeze(counted, -1));
  } else if (mode == 1) {
    counted = to.full({size_at(indices, 0)}, 1, dtype);
  }
  Node* place = to.unsqueeze(to.count(0, size_at(indices, 0)), -1);
  Node* began = to.compare("ge", place, offsets);
  Node* bag = to.sub(to.make("aten.sum.dim_IntList", {began, Dims{-1}}), 1);
  const SymInt bags = size_at(offsets, 0);
  Node* result = put(to, to.full({bags, size_at(table, 1)}, 0, dtype), {bag}, rows, true);
  if (mode == 1) {
    Node* counts = put(to, to.full({bags}, 0, dtype), {bag}, counted, true);
    result = to.div(result, to.unsqueeze(to("clamp", counts, 1), -1));
  }
  to.replace_items({result});
}

// Where elements are that are not 0: one row each.
void arg_where(Decomposition& to) {
  to.replace(to.call("aten.nonzero.default", {to.self()}, to.node().meta.value));
}

}  // namespace vitrine::aot::decompositions
