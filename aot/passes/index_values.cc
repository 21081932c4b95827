#include "aot/passes/index_values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>

#include "aot/graph/aot_error.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/passes.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

using Conditions = std::vector<LinearSum>;

// Sums of larger numbers count as unknown: nothing overflows.
constexpr int64_t kLargest = int64_t{1} << 31;
constexpr int64_t kMostTableElements = int64_t{1} << 26;

bool is_small(int64_t value) { return value >= -kLargest && value <= kLargest; }

// a + factor * b
std::optional<LinearSum> combined(LinearSum a, const LinearSum& b, int64_t factor) {
  if (!is_small(factor)) return std::nullopt;
  a.constant += factor * b.constant;
  if (!is_small(a.constant)) return std::nullopt;
  for (const auto& [term, times] : b.terms) {
    int64_t& sum = a.terms[term];
    sum += factor * times;
    if (!is_small(sum)) return std::nullopt;
    if (sum == 0) a.terms.erase(term);
  }
  return a;
}

IndexValue whole_value(LinearSum sum) { return {IndexValue::Kind::kWhole, std::move(sum), {}, 0}; }
IndexValue number_value(double number) { return {IndexValue::Kind::kNumber, {}, {}, number}; }
IndexValue conditions_value(IndexValue::Kind kind, Conditions conditions) {
  return {kind, {}, std::move(conditions), 0};
}
IndexValue seen_value(Conditions conditions) {
  return conditions_value(IndexValue::Kind::kSeen, std::move(conditions));
}

std::optional<Conditions> opposite(const Conditions& conditions) {
  if (conditions.size() != 1) return std::nullopt;
  LinearSum minus_one;
  minus_one.constant = -1;
  std::optional<LinearSum> sum = combined(minus_one, conditions.front(), -1);
  if (!sum) return std::nullopt;
  return Conditions{std::move(*sum)};
}

// What hides a key wherever another one is seen: added to any score, it gives a weight of 0.
bool hides(double number) {
  return number <= static_cast<double>(std::numeric_limits<float>::lowest()) * 0.99;
}

// Every sum with its axes renamed; axis -> sum, empty: unknown.
template <class MapAxis>
std::optional<LinearSum> with_axes(const LinearSum& sum, const MapAxis& map_axis) {
  LinearSum result;
  result.constant = sum.constant;
  for (const auto& [term, times] : sum.terms) {
    LinearSum replaced;
    replaced.terms[term] = 1;
    if (term.starts_with("axis ")) {
      const std::optional<LinearSum> mapped = map_axis(std::stoul(term.substr(5)));
      if (!mapped) return std::nullopt;
      replaced = *mapped;
    }
    const std::optional<LinearSum> next = combined(std::move(result), replaced, times);
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

template <class MapAxis>
std::optional<IndexValue> value_with_axes(IndexValue value, const MapAxis& map_axis) {
  const auto apply = [&](LinearSum& sum) {
    std::optional<LinearSum> mapped = with_axes(sum, map_axis);
    if (mapped) sum = std::move(*mapped);
    return mapped.has_value();
  };
  if (!apply(value.whole)) return std::nullopt;
  for (LinearSum& each : value.conditions) {
    if (!apply(each)) return std::nullopt;
  }
  return value;
}

bool is_single(const SymInt& size) { return size == SymInt(1); }

size_t from_last(size_t dim, size_t rank) { return rank - 1 - dim; }

// An axis of one element has index 0.
IndexValue without_single_axes(const IndexValue& value, const TensorSpec& spec) {
  const auto map = [&](size_t axis) -> std::optional<LinearSum> {
    if (axis < spec.rank() && is_single(spec.sizes[from_last(axis, spec.rank())]))
      return LinearSum();
    return LinearSum::axis(axis);
  };
  return value_with_axes(value, map).value_or(value);
}

// Numbers of a table [rows, columns] of bools or floats.
double number_at(const std::byte* bytes, ScalarType dtype, size_t index) {
  const auto read = [&]<class T>(T) {
    T value;
    std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
    return value;
  };
  switch (dtype) {
    case ScalarType::kBool:
    case ScalarType::kByte:
      return read(uint8_t{}) != 0 ? 1 : 0;
    case ScalarType::kInt:
      return read(int32_t{});
    case ScalarType::kLong:
      return static_cast<double>(read(int64_t{}));
    case ScalarType::kFloat:
      return static_cast<double>(read(float{}));
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

bool is_integer(ScalarType dtype) {
  return dtype == ScalarType::kLong || dtype == ScalarType::kInt;
}

}  // namespace

LinearSum LinearSum::axis(size_t from_last) {
  LinearSum sum;
  sum.terms["axis " + std::to_string(from_last)] = 1;
  return sum;
}

bool LinearSum::has_axes() const {
  return std::ranges::any_of(terms,
                             [](const auto& each) { return each.first.starts_with("axis "); });
}

bool is_written(const Node& node) {
  std::set<const Node*> seen = {&node};
  std::vector<const Node*> open = {&node};
  while (!open.empty()) {
    const Node* each = open.back();
    open.pop_back();
    for (const Node* user : each->users()) {
      if (!user->is_call()) continue;
      if (user->target().dialect() == Dialect::kHigherOrder ||
          has_unknown_effects(user->target()) || writes_arguments(*user)) {
        return true;
      }
      const bool is_first = !user->args().empty() && user->args()[0].node() == each;
      const bool detaches = user->target().is("aten.detach_.default");  // a view
      if (is_in_place(user->target()) && is_first && !detaches) return true;
      // What may share the memory.
      const Operator* op = operator_of(user->target());
      const bool may_share = is_view(user->target()) || user->target() == getitem() || detaches ||
                             op == nullptr || user->target().name().starts_with("aten.to.") ||
                             user->target().is("aten.contiguous.default") ||
                             user->target().is("aten.reshape.default") ||
                             user->target().is("aten.type_as.default");
      if (may_share && seen.insert(user).second) open.push_back(user);
    }
  }
  return false;
}

struct IndexValues::Rule {
  std::string_view op;  // without its overload: "aten.add"
  Result (IndexValues::*compute)(const Node& node, const Call& call);
};

const std::vector<IndexValues::Rule>& IndexValues::rules() {
  using V = IndexValues;
  static const std::vector<Rule> kRules = {
      {"arange", &V::arange},
      {"add", &V::add},
      {"sub", &V::subtract},
      {"le", &V::compare},
      {"lt", &V::compare},
      {"ge", &V::compare},
      {"gt", &V::compare},
      {"logical_not", &V::negate},
      {"bitwise_not", &V::negate},
      {"logical_and", &V::both},
      {"bitwise_and", &V::both},
      {"__and__", &V::both},
      {"where", &V::choose},
      {"masked_fill", &V::fill},
      {"full", &V::uniform},
      {"scalar_tensor", &V::uniform},
      {"zeros", &V::uniform},
      {"ones", &V::uniform},
      {"to", &V::same},
      {"_to_copy", &V::same},
      {"clone", &V::same},
      {"contiguous", &V::same},
      {"alias", &V::same},
      {"detach", &V::same},
      {"detach_", &V::same},
      {"lift_fresh_copy", &V::same},
      {"type_as", &V::same},
      {"expand", &V::same},
      {"expand_as", &V::same},
      {"unsqueeze", &V::reshape},
      {"squeeze", &V::reshape},
      {"view", &V::reshape},
      {"reshape", &V::reshape},
      {"flatten", &V::reshape},
      {"slice", &V::slice},
      {"narrow", &V::slice},
      {"select", &V::select},
      {"index", &V::index},
  };
  return kRules;
}

std::optional<IndexValue> IndexValues::of(const Node* node) {
  if (node == nullptr) return std::nullopt;
  const auto found = known_.find(node);
  if (found != known_.end()) return found->second;
  known_[node] = std::nullopt;
  Result result = compute(*node);
  if (result && node->tensor() != nullptr) result = without_single_axes(*result, *node->tensor());
  return known_[node] = std::move(result);
}

IndexValues::Result IndexValues::compute(const Node& node) {
  if (node.meta.value.number() != nullptr) return number_node(node);
  if (node.tensor() == nullptr || is_written(node)) return std::nullopt;
  if (node.kind() == Node::Kind::kPlaceholder) return placeholder(node);
  return node.is_call() ? call(node) : std::nullopt;
}

std::optional<LinearSum> IndexValues::whole(const Argument& argument) {
  if (const int64_t* number = argument.get<int64_t>()) {
    LinearSum sum;
    sum.constant = *number;
    return is_small(*number) ? std::optional(sum) : std::nullopt;
  }
  const Result value = of(argument.node());
  if (!value || value->kind != IndexValue::Kind::kWhole) return std::nullopt;
  return value->whole;
}

IndexValues::Result IndexValues::number_node(const Node& node) {
  const Value::Number& number = *node.meta.value.number();
  if (number.kind != Value::Number::Kind::kInt) return std::nullopt;
  LinearSum sum;
  if (number.value.is_static() && number.value.value() != 0) {
    sum.constant = number.value.value();
    return is_small(sum.constant) ? Result(whole_value(sum)) : std::nullopt;
  }
  bool is_item = false;
  if (node.is_call()) {
    const std::string& target = node.target().name();
    is_item = target == "aten.item.default" || target == "aten._local_scalar_dense.default";
    if (is_item) {
      const std::optional<LinearSum> of_tensor = whole(node.need(0));
      if (of_tensor && !of_tensor->has_axes()) return whole_value(*of_tensor);
    }
    if (target == "_operator.add" || target == "_operator.sub") {
      const std::optional<LinearSum> a = whole(node.need(0));
      const std::optional<LinearSum> b = whole(node.need(1));
      const auto made =
          a && b ? combined(*a, *b, target == "_operator.add" ? 1 : -1) : std::nullopt;
      if (made) return whole_value(*made);
    }
  }
  const bool is_symbol = !is_item && !number.value.is_static() &&
                         number.value.expression().kind() == Expression::Kind::kSymbol;
  sum.terms[is_symbol ? number.value.expression().name() : "%" + node.name()] = 1;
  return whole_value(sum);
}

// A position that the caller gives, or a table.
IndexValues::Result IndexValues::placeholder(const Node& node) {
  const TensorSpec& spec = *node.tensor();
  const InputSpec* input = program_.input_of(node.name());
  if (input == nullptr || !spec.is_static()) return std::nullopt;
  if (!has_data(input->kind)) {
    if (!is_integer(spec.dtype) || !std::ranges::all_of(spec.sizes, is_single)) return std::nullopt;
    LinearSum sum;
    sum.terms["%" + node.name()] = 1;
    return whole_value(sum);
  }
  const TensorData* data = program_.data_of(*input);
  if (data == nullptr || program_.is_mutated(*input) || data->numel() == 0 ||
      data->numel() > kMostTableElements) {
    return std::nullopt;
  }
  for (size_t dim = 0; dim + 2 < spec.rank(); ++dim) {
    if (!is_single(spec.sizes[dim])) return std::nullopt;
  }
  const std::vector<std::byte> bytes = row_major_bytes(*data);
  const auto columns = static_cast<size_t>(spec.rank() == 0 ? 1 : data->sizes.back());
  const size_t count = static_cast<size_t>(data->numel());
  const auto at = [&](size_t i) { return number_at(bytes.data(), data->dtype, i); };
  const auto holds = [&](const auto& expected) {
    for (size_t i = 0; i < count; ++i) {
      if (!expected(i / columns, i % columns, at(i))) return false;
    }
    return true;
  };
  if (is_integer(data->dtype)) {
    LinearSum sum;
    sum.constant = static_cast<int64_t>(at(0));
    if (count == 1 && is_small(sum.constant)) return whole_value(sum);
    const bool counts = count == columns && holds([](size_t, size_t column, double value) {
                          return value == static_cast<double>(column);
                        });
    return counts ? Result(whole_value(LinearSum::axis(0))) : std::nullopt;
  }
  const bool is_bool = data->dtype == ScalarType::kBool;
  if (count == 1 && !is_bool) return number_value(at(0));
  const bool is_causal = holds([&](size_t row, size_t column, double value) {
    if (is_bool) return (value != 0) == (column <= row);
    return column <= row ? value == 0 : hides(value);
  });
  if (!is_causal) return std::nullopt;
  const auto condition = combined(LinearSum::axis(1), LinearSum::axis(0), -1);
  return conditions_value(is_bool ? IndexValue::Kind::kSeen : IndexValue::Kind::kAdded,
                          {*condition});
}

IndexValues::Result IndexValues::call(const Node& node) {
  const Target target = node.target();
  if (target.dialect() != Dialect::kAten || target.name_space() != "aten") return std::nullopt;
  const auto rule = std::ranges::find(rules(), target.op(), &Rule::op);
  if (rule == rules().end() || operator_of(target) == nullptr) return std::nullopt;
  return (this->*rule->compute)(node, Call(node));
}

IndexValues::Result IndexValues::arange(const Node& node, const Call& call) {
  if (!is_integer(node.tensor()->dtype)) return std::nullopt;
  if (call.integer("step", 1) != 1) return std::nullopt;
  const Argument* start = call.find("start");
  const std::optional<LinearSum> first = start == nullptr ? LinearSum() : whole(*start);
  const auto sum = first ? combined(*first, LinearSum::axis(0), 1) : std::nullopt;
  return sum ? Result(whole_value(*sum)) : std::nullopt;
}

IndexValues::Result IndexValues::add(const Node& node, const Call& call) {
  const std::optional<LinearSum> a = whole(*call.find("self"));
  const std::optional<LinearSum> b = whole(call.value("other"));
  const bool is_plain = is_integer(node.tensor()->dtype) && call.real("alpha", 1) == 1;
  const auto sum = a && b && is_plain ? combined(*a, *b, 1) : std::nullopt;
  return sum ? Result(whole_value(*sum)) : std::nullopt;
}

IndexValues::Result IndexValues::subtract(const Node& node, const Call& call) {
  const std::optional<LinearSum> a = whole(*call.find("self"));
  const std::optional<LinearSum> b = whole(call.value("other"));
  const bool is_plain = is_integer(node.tensor()->dtype) && call.real("alpha", 1) == 1;
  const auto sum = a && b && is_plain ? combined(*a, *b, -1) : std::nullopt;
  return sum ? Result(whole_value(*sum)) : std::nullopt;
}

// a <= b: b - a >= 0; a < b: b - a - 1 >= 0
IndexValues::Result IndexValues::compare(const Node& node, const Call& call) {
  const std::optional<LinearSum> a = whole(*call.find("self"));
  const std::optional<LinearSum> b = whole(call.value("other"));
  if (!a || !b) return std::nullopt;
  const std::string_view op = node.target().op();
  std::optional<LinearSum> sum = op[0] == 'l' ? combined(*b, *a, -1) : combined(*a, *b, -1);
  LinearSum one;
  one.constant = 1;
  if (sum && op[1] == 't') sum = combined(*sum, one, -1);
  return sum ? Result(seen_value({*sum})) : std::nullopt;
}

IndexValues::Result IndexValues::negate(const Node&, const Call& call) {
  const Result value = of(&call.node("self"));
  if (!value || value->kind != IndexValue::Kind::kSeen) return std::nullopt;
  std::optional<Conditions> conditions = opposite(value->conditions);
  return conditions ? Result(seen_value(std::move(*conditions))) : std::nullopt;
}

IndexValues::Result IndexValues::both(const Node&, const Call& call) {
  Result a = of(call.value("self").node());
  const Result b = of(call.value("other").node());
  constexpr auto kSeen = IndexValue::Kind::kSeen;
  if (!a || !b || a->kind != kSeen || b->kind != kSeen) return std::nullopt;
  a->conditions.insert(a->conditions.end(), b->conditions.begin(), b->conditions.end());
  return a;
}

namespace {

// 0 where the conditions hold, else what hides; or the other way around.
std::optional<IndexValue> added_mask(const Conditions& conditions, std::optional<double> where_true,
                                     std::optional<double> where_false) {
  if (!where_true || !where_false) return std::nullopt;
  if (*where_true == 0 && hides(*where_false)) {
    return conditions_value(IndexValue::Kind::kAdded, conditions);
  }
  if (!hides(*where_true) || *where_false != 0) return std::nullopt;
  std::optional<Conditions> seen = opposite(conditions);
  if (!seen) return std::nullopt;
  return conditions_value(IndexValue::Kind::kAdded, std::move(*seen));
}

std::optional<double> number_of(const Argument& argument, IndexValues& values) {
  if (const double* number = argument.get<double>()) return *number;
  if (const int64_t* number = argument.get<int64_t>()) return static_cast<double>(*number);
  const std::optional<IndexValue> value = values.of(argument.node());
  if (!value || value->kind != IndexValue::Kind::kNumber) return std::nullopt;
  return value->number;
}

bool is_float(const TensorSpec& spec) {
  return spec.dtype == ScalarType::kFloat || spec.dtype == ScalarType::kHalf ||
         spec.dtype == ScalarType::kBFloat16;
}

}  // namespace

IndexValues::Result IndexValues::choose(const Node& node, const Call& call) {
  const Result condition = of(&call.node("condition"));
  if (!condition || condition->kind != IndexValue::Kind::kSeen || !is_float(*node.tensor())) {
    return std::nullopt;
  }
  return added_mask(condition->conditions, number_of(call.value("self"), *this),
                    number_of(call.value("other"), *this));
}

IndexValues::Result IndexValues::fill(const Node& node, const Call& call) {
  const Result condition = of(&call.node("mask"));
  if (!condition || condition->kind != IndexValue::Kind::kSeen || !is_float(*node.tensor())) {
    return std::nullopt;
  }
  return added_mask(condition->conditions, number_of(call.value("value"), *this),
                    number_of(call.value("self"), *this));
}

IndexValues::Result IndexValues::uniform(const Node& node, const Call& call) {
  const std::string_view op = node.target().op();
  Argument value = int64_t{op == "ones"};
  if (op == "full") value = call.value("fill_value");
  if (op == "scalar_tensor") value = call.value("s");
  if (const bool* flag = value.get<bool>()) value = Argument(int64_t{*flag});
  const TensorSpec& spec = *node.tensor();
  if (is_integer(spec.dtype)) {
    const std::optional<LinearSum> sum = whole(value);
    return sum ? Result(whole_value(*sum)) : std::nullopt;
  }
  if (value.node() != nullptr) return std::nullopt;
  const std::optional<double> number = number_of(value, *this);
  if (!number) return std::nullopt;
  if (spec.dtype == ScalarType::kBool && *number == 1) return seen_value({});
  return is_float(spec) ? Result(number_value(*number)) : std::nullopt;
}

// The same elements, axes counted from the last. Integers stay such, and so on.
IndexValues::Result IndexValues::same(const Node& node, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  if (!value) return std::nullopt;
  const TensorSpec& to = *node.tensor();
  const ScalarType from = self.tensor()->dtype;
  const bool keeps = to.dtype == from || (is_integer(to.dtype) && is_integer(from)) ||
                     (is_float(to) && is_float(*self.tensor()));
  return keeps ? value : std::nullopt;
}

// Dims of one element come and go.
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
  const std::optional<LinearSum> first = start == nullptr ? LinearSum() : whole(*start);
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
  const size_t taken = from_last(dim, rank);
  std::optional<LinearSum> at = whole(call.value("index"));
  if (is_single(self.tensor()->sizes[dim])) at = LinearSum();
  if (!at || (at->terms.empty() && at->constant < 0)) return std::nullopt;
  return value_with_axes(*value, [&](size_t axis) -> std::optional<LinearSum> {
    if (axis == taken) return at;
    return LinearSum::axis(axis > taken ? axis - 1 : axis);
  });
}

// By one index of at most one dim.
IndexValues::Result IndexValues::index(const Node&, const Call& call) {
  const Node& self = call.node("self");
  const Result value = of(&self);
  const Argument* given = call.find("indices");
  const ArgumentList* indices = given == nullptr ? nullptr : given->list();
  if (!value || indices == nullptr) return std::nullopt;
  const Node* index = nullptr;
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
  const std::optional<LinearSum> at = whole(Argument(const_cast<Node*>(index)));
  if (!at) return std::nullopt;
  const size_t taken = from_last(dim, self.tensor()->rank());
  const bool goes = index->tensor()->rank() == 0;
  const auto in_place =
      with_axes(*at, [&](size_t) { return std::optional(LinearSum::axis(taken)); });
  return value_with_axes(*value, [&](size_t axis) -> std::optional<LinearSum> {
    if (axis == taken) return in_place;
    return LinearSum::axis(goes && axis > taken ? axis - 1 : axis);
  });
}

std::optional<LinearSum> IndexValues::causal_from(const Node* mask) {
  Result value = of(mask);
  if (!value || value->kind == IndexValue::Kind::kWhole ||
      value->kind == IndexValue::Kind::kNumber) {
    return std::nullopt;
  }
  std::erase_if(value->conditions,
                [](const LinearSum& each) { return each.terms.empty() && each.constant >= 0; });
  if (value->conditions.size() != 1) return std::nullopt;
  // condition = p + query - key
  std::optional<LinearSum> start = combined(value->conditions.front(), LinearSum::axis(0), 1);
  const TensorSpec& spec = *mask->tensor();
  const bool has_queries = spec.rank() > 1 && !is_single(spec.sizes[spec.rank() - 2]);
  if (start && has_queries) start = combined(*start, LinearSum::axis(1), -1);
  return start && !start->has_axes() ? start : std::nullopt;
}

}  // namespace vitrine::aot
