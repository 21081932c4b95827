#include <cstring>
#include <span>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// Returns a list of indices: None for each dim before `dim`, followed by `index`.
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

// Writes `values` to the positions that `index` selects along the argument "dim". A 0-d tensor
// counts as a vector.
void put_along(Decomposition& to, Node* index, Node* values, bool accumulate) {
  Node* x = to.self();
  const bool is_scalar = rank_of(x) == 0;
  const size_t dim = wrapped(to.integer("dim"), rank_of(x));
  if (rank_of(index) > 1) to.refuse("index must have at most one dim");
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
  const Argument argument = to.arg("value");
  const bool is_tensor = argument.node() != nullptr && argument.node()->tensor() != nullptr;
  const ScalarType dtype = to.spec().dtype;
  Node* value = is_tensor ? to.convert(argument.node(), dtype) : to.scalar(argument, dtype);
  Sizes sizes = x->tensor()->sizes;
  if (sizes.empty()) sizes.emplace_back(1);
  const SymInt count = rank_of(index) == 0 ? SymInt(1) : size_at(index, 0);
  sizes.at(wrapped(to.integer("dim"), rank_of(x))) = count;
  put_along(to, index, to.expand(value, sizes), false);
}

// Selects elements of the flattened input by their row-major index.
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

// Broadcasts the input and the indices in all dims except `dim`, and then gathers along `dim`.
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
    to.refuse("the input and indices must have the same rank, which must not be 0");
  Sizes of_x = x->tensor()->sizes;
  Sizes of_index = index->tensor()->sizes;
  for (size_t i = 0; i < of_x.size(); ++i) {
    if (i == at) continue;
    if (of_x[i] == SymInt(1)) of_x[i] = of_index[i];
    if (of_index[i] == SymInt(1)) of_index[i] = of_x[i];
  }
  if (of_x != x->tensor()->sizes) x = to.expand(x, of_x);
  if (of_index != index->tensor()->sizes) index = to.expand(index, of_index);
  to.replace(to("gather", x, dim, index));
}

// Replaces _unsafe_index with index, whose kernel checks the indices.
void plain_index(Decomposition& to) {
  to.replace(to.call("aten.index.Tensor", to.node().args(), to.node().meta.value));
}
void plain_index_put(Decomposition& to) {
  to.replace(to.call("aten.index_put.default", to.node().args(), to.node().meta.value,
                     to.kwargs({"accumulate"})));
}

// Decomposes scatter_reduce, which combines scattered values with the elements at their indices.
void scatter_reduce(Decomposition& to) {
  Node* x = to.self();
  const Argument dim = to.arg("dim");
  Node* index = to.tensor("index");
  const Argument word = to.arg("reduce");
  if (word.get<std::string>() == nullptr) to.refuse("reduce must be a string");
  const bool is_sum = *word.get<std::string>() == "add";
  const bool has_value = to.node().target().overload() == "value_reduce";
  Node* source =
      has_value ? to.expand(to.scalar(to.arg("value"), x->tensor()->dtype), index->tensor()->sizes)
                : to.tensor("src");
  to.replace(is_sum ? to("scatter_add", x, dim, index, source)
                    : to.make("aten.scatter_reduce.two", {x, dim, index, source, "prod"}));
}

namespace {

// Returns the operand at `index` as a tensor. A number becomes a 0-d tensor.
Node* tensor_or_number(Decomposition& to, size_t index) {
  const Argument operand = to.operand(index);
  if (operand.node() != nullptr && operand.node()->tensor() != nullptr) return operand.node();
  const bool is_real = operand.get<double>() != nullptr;
  return to.scalar(operand, is_real ? ScalarType::kFloat : ScalarType::kLong);
}

std::vector<int64_t> integers_of(Decomposition& to, const TensorData& data) {
  const std::vector<std::byte> bytes = row_major_bytes(data);
  std::vector<int64_t> integers(static_cast<size_t>(data.numel()));
  for (size_t i = 0; i < integers.size(); ++i) {
    if (data.dtype == ScalarType::kLong) {
      std::memcpy(&integers[i], &bytes[i * sizeof(int64_t)], sizeof(int64_t));
    } else if (data.dtype == ScalarType::kInt) {
      int32_t item = 0;
      std::memcpy(&item, &bytes[i * sizeof item], sizeof item);
      integers[i] = item;
    } else {
      to.refuse("repeats must be i32 or i64");
    }
  }
  return integers;
}

}  // namespace

// Computes isin: true for each element that equals a test element. Compares all pairs.
void is_in(Decomposition& to) {
  Node* elements = tensor_or_number(to, 0);
  Node* others = tensor_or_number(to, 1);
  const SymInt count = product_of(others->tensor()->sizes);
  others = to.reshape(others, {count});
  Node* found = to.compare("eq", to.unsqueeze(elements, -1), others);
  found = to.make("aten.any.dim", {found, -1});
  const bool is_inverse = to.boolean("invert");
  to.replace(is_inverse ? to("logical_not", found) : found);
}

namespace {

// Counts the bounds that are less than each value. If `right` is true, also counts equal bounds.
Node* count_bounds_before(Decomposition& to, Node* bounds, Node* values, bool right) {
  Node* is_after = to.compare(right ? "gt" : "ge", bounds, values);
  // For the value NaN, `is_after` is always false, so all bounds are counted: NaN sorts last.
  Node* count = to.make("aten.sum.dim_IntList", {to("logical_not", is_after), Dims{-1}});
  return to.convert(count, to.spec().dtype);
}

}  // namespace

void bucketize(Decomposition& to) {
  Node* values = tensor_or_number(to, 0);
  to.replace(count_bounds_before(to, to.tensor("boundaries"), to.unsqueeze(values, -1),
                                 to.boolean("right")));
}
void search_sorted(Decomposition& to) {
  Node* bounds = to.self();
  Node* values = tensor_or_number(to, 1);
  if (Node* sorter = to.optional_tensor("sorter")) bounds = to("gather", bounds, -1, sorter);
  const Argument side = to.arg("side");
  const bool right = side.get<std::string>() != nullptr ? *side.get<std::string>() == "right"
                                                        : to.boolean("right");
  if (rank_of(bounds) > 1) bounds = to.unsqueeze(bounds, -2);
  to.replace(count_bounds_before(to, bounds, to.unsqueeze(values, -1), right));
}

// Decomposes embedding_bag: the sum, mean or maximum of the selected rows in each bag. The row
// `indices[i]` belongs to the last bag whose offset is at most i. Computes only the first of the
// four results.
void embedding_bag(Decomposition& to) {
  Node* table = to.self();
  Node* indices = to.tensor("indices");
  Node* offsets = to.tensor("offsets");
  const int64_t mode = to.integer("mode", 0);
  constexpr int64_t kSum = 0, kMean = 1, kMax = 2;
  if (mode < kSum || mode > kMax) to.refuse("mode must be 0 (sum), 1 (mean) or 2 (max)");
  if (rank_of(indices) != 1 || rank_of(offsets) != 1)
    to.refuse("indices and offsets must be vectors");
  // Converts only the selected rows to f32, because a copy of the table may be too large.
  Node* rows = to.to_opmath(to("embedding", table, indices));
  const ScalarType dtype = rows->tensor()->dtype;
  Node* weights = to.optional_tensor("per_sample_weights");
  if (weights != nullptr) rows = to.mul(rows, to.to_opmath(to.unsqueeze(weights, -1)));
  if (to.boolean("include_last_offset", false)) {
    offsets = to.slice(offsets, 0, 0, to.size(size_at(offsets, 0) - SymInt(1)));
  }
  // In PyTorch's private embedding_bag operators, a padding index of -1 means no padding.
  const Argument given = to.arg("padding_idx");
  int64_t padding = given.is_none() ? -1 : to.integer("padding_idx");
  const bool has_padding =
      !given.is_none() && (padding != -1 || to.node().target().op() == "embedding_bag");
  if (padding < 0 && size_at(table, 0).is_static()) padding += size_at(table, 0).value();
  Node* counts = has_padding ? to.compare("ne", indices, padding) : nullptr;
  Node* position = to.unsqueeze(to.count(0, size_at(indices, 0)), -1);
  Node* began = to.compare("ge", position, offsets);
  Node* bag = to.sub(to.make("aten.sum.dim_IntList", {began, Dims{-1}}), 1);
  const SymInt bags = size_at(offsets, 0);
  if (mode == kMax) {
    // Assigns padding rows to an additional bag, which is later removed from the result.
    if (has_padding)
      bag = to.make("aten.where.self", {counts, bag, to.scalar(to.size(bags), ScalarType::kLong)});
    Node* result = to.full({bags + SymInt(1), size_at(table, 1)}, 0, dtype);
    result =
        to.make("aten.scatter_reduce.two",
                {result, 0, to.expand(to.unsqueeze(bag, -1), rows->tensor()->sizes), rows, "amax"},
                {{"include_self", false}});
    return to.replace_items({to.slice(result, 0, 0, to.size(bags))});
  }
  Node* counted = nullptr;  // 1 for indices that count, 0 for padding
  if (has_padding) {
    counted = to.convert(counts, dtype);
    rows = to.mul(rows, to.unsqueeze(counted, -1));
  } else if (mode == kMean) {
    counted = to.full({size_at(indices, 0)}, 1, dtype);
  }
  Node* result = put(to, to.full({bags, size_at(table, 1)}, 0, dtype), {bag}, rows, true);
  if (mode == kMean) {
    Node* sums = put(to, to.full({bags}, 0, dtype), {bag}, counted, true);
    result = to.div(result, to.unsqueeze(to("clamp", sums, 1), -1));
  }
  to.replace_items({result});
}

namespace {

// Returns a vector that contains each index i `repeats[i]` times: [2, 0, 1] becomes [0, 0, 2]. Null
// if `repeats` is not constant.
Node* constant_indices(Decomposition& to, const Node* repeats) {
  const TensorData* data = to.constant_data(repeats);
  if (data == nullptr || data->sizes.size() > 1) return nullptr;
  const std::vector<int64_t> counts = integers_of(to, *data);
  std::vector<int64_t> indices;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || counts[i] > kMaxResults * int64_t{16} ||
        static_cast<int64_t>(indices.size()) > kMaxResults * int64_t{16}) {
      to.refuse("repeats must not be negative, and there must be at most 2^20 repetitions");
    }
    indices.insert(indices.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
  }
  const auto bytes = std::as_bytes(std::span(indices));
  return to.add_constant("_repeated_indices",
                         make_tensor_data(ScalarType::kLong, {static_cast<int64_t>(indices.size())},
                                          {bytes.begin(), bytes.end()}));
}

}  // namespace

// Decomposes repeat_interleave only if the repeats are constant, because they determine the size of
// the result.
void repeated_indices(Decomposition& to) {
  Node* indices = constant_indices(to, to.self());
  if (indices == nullptr) return to.keep();
  to.replace(indices);
}

void repeat_interleave_by_tensor(Decomposition& to) {
  Node* x = to.self();
  Node* repeats = to.tensor("repeats");
  const bool is_flat = to.arg("dim").is_none();
  if (is_flat) x = to.reshape(x, {product_of(x->tensor()->sizes)});
  const size_t dim = is_flat ? 0 : wrapped(to.integer("dim"), rank_of(x));
  if (rank_of(x) == 0) to.refuse("the input must have at least one dim");
  const bool is_single = rank_of(repeats) == 0 || size_at(repeats, 0) == SymInt(1);
  const TensorData* data = to.constant_data(repeats);
  Node* indices = nullptr;
  if (is_single && data != nullptr && data->numel() == 1) {
    return to.replace(to.make("aten.repeat_interleave.self_int",
                              {x, integers_of(to, *data)[0], static_cast<int64_t>(dim)}));
  }
  if (data != nullptr) indices = constant_indices(to, repeats);
  if (indices == nullptr) {
    if (is_single) {
      repeats = to.expand(to.reshape(repeats, {SymInt(1)}), {size_at(x, dim)});
      repeats =
          to.make("aten.clone.default", {repeats}, {{"memory_format", MemoryFormat::kContiguous}});
    }
    const SymInt count = to.spec().sizes.at(dim);
    indices = to.call("aten.repeat_interleave.Tensor", {repeats},
                      contiguous_spec(repeats->tensor()->dtype, {count}));
  }
  to.replace(to("index_select", x, static_cast<int64_t>(dim), indices));
}

// Returns the indices of the elements that are not 0, one row per element.
void arg_where(Decomposition& to) {
  to.replace(to.call("aten.nonzero.default", {to.self()}, to.node().meta.value));
}

}  // namespace vitrine::aot::decompositions
