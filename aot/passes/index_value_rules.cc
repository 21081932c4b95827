// Computes the index values (index_values.h) of calls, with one function per kind of operator.
#include <algorithm>
#include <string_view>

#include "aot/passes/index_value_parts.h"
#include "aot/passes/index_values.h"

namespace vitrine::aot {

IndexValues::Result IndexValues::arange(const Node& node, const Call& call) {
  if (!is_integer(node.tensor()->dtype)) return std::nullopt;
  if (call.integer("step", 1) != 1) return std::nullopt;
  const Argument* start = call.find("start");
  const std::optional<LinearSum> first = start == nullptr ? LinearSum() : integer(*start);
  const auto sum = first ? combined(*first, LinearSum::axis(0), 1) : std::nullopt;
  return sum ? Result(integer_value(*sum)) : std::nullopt;
}

IndexValues::Result IndexValues::add_or_subtract(const Node& node, const Call& call) {
  const std::optional<LinearSum> a = integer(*call.find("self"));
  const std::optional<LinearSum> b = integer(call.value("other"));
  if (node.target().op() == "add" && is_float(*node.tensor())) return add_masks(node, call);
  const bool is_plain = is_integer(node.tensor()->dtype) && call.real("alpha", 1) == 1;
  const int64_t sign = node.target().op() == "sub" ? -1 : 1;
  const auto sum = a && b && is_plain ? combined(*a, *b, sign) : std::nullopt;
  return sum ? Result(integer_value(*sum)) : std::nullopt;
}

// A comparison becomes a condition: a <= b becomes b - a >= 0, and a < b becomes b - a - 1 >= 0.
IndexValues::Result IndexValues::compare(const Node& node, const Call& call) {
  const std::optional<LinearSum> a = integer(*call.find("self"));
  const std::optional<LinearSum> b = integer(call.value("other"));
  if (!a || !b) return std::nullopt;
  const std::string_view op = node.target().op();
  std::optional<LinearSum> sum = op[0] == 'l' ? combined(*b, *a, -1) : combined(*a, *b, -1);
  LinearSum one;
  one.constant = 1;
  if (sum && op[1] == 't') sum = combined(*sum, one, -1);
  return sum ? Result(bool_mask_value({*sum})) : std::nullopt;
}

IndexValues::Result IndexValues::uniform(const Node& node, const Call& call) {
  const std::string_view op = node.target().op();
  Argument value = int64_t{0};
  if (op.starts_with("ones") || op == "new_ones") value = int64_t{1};
  if (op.starts_with("full") || op == "new_full") value = call.value("fill_value");
  if (op == "scalar_tensor") value = call.value("s");
  if (const bool* flag = value.get<bool>()) value = Argument(int64_t{*flag});
  const TensorSpec& spec = *node.tensor();
  if (is_integer(spec.dtype)) {
    const std::optional<LinearSum> sum = integer(value);
    return sum ? Result(integer_value(*sum)) : std::nullopt;
  }
  if (value.node() != nullptr) return std::nullopt;
  const std::optional<double> number = number_of(value);
  if (!number) return std::nullopt;
  if (spec.dtype == ScalarType::kBool && *number == 1) return bool_mask_value({});
  return is_float(spec) ? Result(constant_value(*number)) : std::nullopt;
}

// Handles conversions, copies and expansions. Expansions do not change axes, because axes count
// from the last dim.
IndexValues::Result IndexValues::same_elements(const Node& node, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  if (!value) return std::nullopt;
  const TensorSpec& to = *node.tensor();
  const ScalarType from = self.tensor()->dtype;
  using Kind = IndexValue::Kind;
  if (value->kind == Kind::kBoolMask && is_float(to)) {
    return conditions_value(Kind::kOneMask, value->conditions);
  }
  if (value->kind == Kind::kOneMask && to.dtype == ScalarType::kBool) {
    return bool_mask_value(value->conditions);
  }
  const bool keeps = to.dtype == from || (is_integer(to.dtype) && is_integer(from)) ||
                     (is_float(to) && is_float(*self.tensor()));
  return keeps ? value : std::nullopt;
}

// Handles reshapes that only add or remove dims of size 1.
IndexValues::Result IndexValues::reshape(const Node& node, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  if (!value) return std::nullopt;
  const auto dims_of = [](const TensorSpec& spec) {
    std::vector<size_t> dims;
    for (size_t dim = 0; dim < spec.rank(); ++dim) {
      if (!is_single(spec.sizes[dim])) dims.push_back(dim);
    }
    return dims;
  };
  const TensorSpec& before = *self.tensor();
  const TensorSpec& after = *node.tensor();
  const std::vector<size_t> from = dims_of(before);
  const std::vector<size_t> to = dims_of(after);
  if (from.size() != to.size()) return std::nullopt;
  std::map<size_t, size_t> moved;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!(before.sizes[from[i]] == after.sizes[to[i]])) return std::nullopt;
    moved[from_last(from[i], before.rank())] = from_last(to[i], after.rank());
  }
  return value_with_axes(*value, [&](size_t axis) -> std::optional<LinearSum> {
    const auto found = moved.find(axis);
    return found == moved.end() ? std::nullopt : std::optional(LinearSum::axis(found->second));
  });
}

IndexValues::Result IndexValues::slice(const Node&, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  if (!value || call.integer("step", 1) != 1) return std::nullopt;
  const size_t rank = self.tensor()->rank();
  const size_t sliced = from_last(wrapped(call.integer("dim", 0), rank), rank);
  const Argument* start = call.find("start");
  const std::optional<LinearSum> first = start == nullptr ? LinearSum() : integer(*start);
  if (!first || first->has_axes() || (first->terms.empty() && first->constant < 0)) {
    return std::nullopt;
  }
  return value_with_axes(*value, [&](size_t axis) -> std::optional<LinearSum> {
    return axis == sliced ? combined(LinearSum::axis(axis), *first, 1)
                          : std::optional(LinearSum::axis(axis));
  });
}

IndexValues::Result IndexValues::select(const Node&, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  if (!value) return std::nullopt;
  const size_t rank = self.tensor()->rank();
  const size_t dim = wrapped(call.integer("dim"), rank);
  const size_t selected = from_last(dim, rank);
  std::optional<LinearSum> at = integer(call.value("index"));
  if (is_single(self.tensor()->sizes[dim])) at = LinearSum();
  if (!at || (at->terms.empty() && at->constant < 0)) return std::nullopt;
  return value_with_axes(*value, [&](size_t axis) -> std::optional<LinearSum> {
    if (axis == selected) return at;
    return LinearSum::axis(axis > selected ? axis - 1 : axis);
  });
}

// Handles indexing with a single index tensor of rank 0 or 1.
IndexValues::Result IndexValues::index(const Node&, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  const Argument* argument = call.find("indices");
  const ArgumentList* indices = argument == nullptr ? nullptr : argument->list();
  if (!value || indices == nullptr) return std::nullopt;
  Node* index = nullptr;
  size_t dim = 0;
  for (size_t i = 0; i < indices->size(); ++i) {
    if ((*indices)[i].is_none()) continue;
    if (index != nullptr) return std::nullopt;
    index = (*indices)[i].node();
    dim = i;
  }
  if (index == nullptr || index->tensor() == nullptr || index->tensor()->rank() > 1) {
    return std::nullopt;
  }
  const std::optional<LinearSum> at = integer(Argument(index));
  if (!at) return std::nullopt;
  const size_t indexed = from_last(dim, self.tensor()->rank());
  const bool removes_dim = index->tensor()->rank() == 0;
  auto new_index = with_axes(*at, [&](size_t) { return std::optional(LinearSum::axis(indexed)); });
  return value_with_axes(*value, [&](size_t axis) -> std::optional<LinearSum> {
    if (axis == indexed) return new_index;
    return LinearSum::axis(removes_dim && axis > indexed ? axis - 1 : axis);
  });
}

}  // namespace vitrine::aot
