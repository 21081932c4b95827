#include "aot/passes/index_values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>

#include "aot/passes/auto_functionalized.h"
#include "aot/passes/index_value_parts.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {

namespace {

constexpr size_t kMaxDepth = 200;  // length of the chain of calls that compute a value
constexpr int64_t kMaxTableElements = int64_t{1} << 26;

// Replaces axes of size 1 with their only index, 0.
IndexValue without_single_axes(const IndexValue& value, const TensorSpec& spec) {
  const auto map = [&](size_t axis) -> std::optional<LinearSum> {
    if (axis < spec.rank() && is_single(spec.sizes[from_last(axis, spec.rank())]))
      return LinearSum();
    return LinearSum::axis(axis);
  };
  return value_with_axes(value, map).value_or(value);
}

// Reads an element of a stored table. Returns NaN for a dtype that is not allowed in tables.
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

}  // namespace

bool is_written(const Node& node) {
  std::set<const Node*> seen = {&node};
  std::vector<const Node*> open = {&node};
  while (!open.empty()) {
    const Node* alias = open.back();
    open.pop_back();
    for (const Node* user : alias->users()) {
      if (!user->is_call()) continue;
      if (user->target().dialect() == Dialect::kHigherOrder ||
          has_unknown_effects(user->target()) || writes_arguments(*user)) {
        return true;
      }
      const bool is_first = !user->args().empty() && user->args()[0].node() == alias;
      const bool detaches = user->target().is("aten.detach_.default");  // does not write
      if (is_in_place(user->target()) && is_first && !detaches) return true;
      // Continues with the users of each result that may share the tensor's memory.
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
  std::string_view op;  // name in the aten namespace, without the overload: "add"
  Result (IndexValues::*compute)(const Node& node, const Call& call);
};

const std::vector<IndexValues::Rule>& IndexValues::rules() {
  using V = IndexValues;
  static const std::vector<Rule> kRules = {
      {"arange", &V::arange},
      {"add", &V::add_or_subtract},
      {"add_", &V::add_masks},
      {"sub", &V::add_or_subtract},
      {"le", &V::compare},
      {"lt", &V::compare},
      {"ge", &V::compare},
      {"gt", &V::compare},
      {"logical_not", &V::logical_not},
      {"bitwise_not", &V::logical_not},
      {"logical_and", &V::logical_and},
      {"bitwise_and", &V::logical_and},
      {"__and__", &V::logical_and},
      {"where", &V::where},
      {"masked_fill", &V::masked_fill},
      {"masked_fill_", &V::masked_fill},
      {"eq", &V::equal},
      {"ne", &V::equal},
      {"rsub", &V::rsub},
      {"mul", &V::multiply},
      {"mul_", &V::multiply},
      {"triu", &V::triangle},
      {"triu_", &V::triangle},
      {"tril", &V::triangle},
      {"tril_", &V::triangle},
      {"cat", &V::concatenate},
      {"hstack", &V::concatenate},
      {"full", &V::uniform},
      {"scalar_tensor", &V::uniform},
      {"zeros", &V::uniform},
      {"ones", &V::uniform},
      {"full_like", &V::uniform},
      {"zeros_like", &V::uniform},
      {"ones_like", &V::uniform},
      {"new_full", &V::uniform},
      {"new_zeros", &V::uniform},
      {"new_ones", &V::uniform},
      {"to", &V::same_elements},
      {"_to_copy", &V::same_elements},
      {"clone", &V::same_elements},
      {"contiguous", &V::same_elements},
      {"alias", &V::same_elements},
      {"detach", &V::same_elements},
      {"detach_", &V::same_elements},
      {"lift_fresh_copy", &V::same_elements},
      {"type_as", &V::same_elements},
      {"expand", &V::same_elements},
      {"expand_as", &V::same_elements},
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

IndexValues::IndexValues(const ExportedProgram& program) : program_(program) {
  for (Node& node : program.graph->nodes()) {
    if (!node.is_call() || node.meta.value.number() == nullptr) continue;
    const SymInt& value = node.meta.value.number()->value;
    const bool is_item = node.target().is("aten.item.default") ||
                         node.target().is("aten._local_scalar_dense.default");
    if (is_item && !value.is_static() && value.expression().kind() == Expression::Kind::kSymbol) {
      items_.emplace(value.expression().name(), &node);
    }
  }
}

std::optional<IndexValue> IndexValues::of(const Node* node) {
  if (node == nullptr) return std::nullopt;
  const auto found = known_.find(node);
  if (found != known_.end()) return found->second;
  if (depth_ == kMaxDepth) return std::nullopt;
  known_[node] = std::nullopt;
  ++depth_;
  Result result = compute(*node);
  --depth_;
  if (result && node->tensor() != nullptr) result = without_single_axes(*result, *node->tensor());
  return known_[node] = std::move(result);
}

IndexValues::Result IndexValues::compute(const Node& node) {
  if (node.meta.value.number() != nullptr) return number_node(node);
  if (node.tensor() == nullptr || is_written(node)) return std::nullopt;
  if (node.kind() == Node::Kind::kPlaceholder) return placeholder(node);
  return node.is_call() ? call(node) : std::nullopt;
}

std::optional<LinearSum> IndexValues::integer(const Argument& argument) {
  if (const int64_t* number = argument.get<int64_t>()) {
    LinearSum sum;
    sum.constant = *number;
    return is_small(*number) ? std::optional(sum) : std::nullopt;
  }
  const Result value = of(argument.node());
  if (!value || value->kind != IndexValue::Kind::kInteger) return std::nullopt;
  return value->integer;
}

IndexValues::Result IndexValues::number_node(const Node& node) {
  const Value::Number& number = *node.meta.value.number();
  if (number.kind != Value::Number::Kind::kInt) return std::nullopt;
  LinearSum sum;
  if (number.value.is_static() && number.value.value() != 0) {
    sum.constant = number.value.value();
    return is_small(sum.constant) ? Result(integer_value(sum)) : std::nullopt;
  }
  bool is_item = false;
  if (node.is_call()) {
    const std::string& target = node.target().name();
    is_item = target == "aten.item.default" || target == "aten._local_scalar_dense.default";
    if (is_item) {
      const std::optional<LinearSum> of_tensor = integer(node.need(0));
      if (of_tensor && !of_tensor->has_axes()) return integer_value(*of_tensor);
    }
    if (target == "_operator.add" || target == "_operator.sub") {
      const std::optional<LinearSum> a = integer(node.need(0));
      const std::optional<LinearSum> b = integer(node.need(1));
      const auto made =
          a && b ? combined(*a, *b, target == "_operator.add" ? 1 : -1) : std::nullopt;
      if (made) return integer_value(*made);
    }
  }
  if (!is_item && !number.value.is_static()) {
    if (const std::optional<LinearSum> of_symbols = size_sum(number.value)) {
      return integer_value(*of_symbols);
    }
  }
  sum.terms["%" + node.name()] = 1;
  return integer_value(sum);
}

std::optional<LinearSum> IndexValues::size_sum(const SymInt& size) {
  return expression_sum(*size.as_expression());
}

// Converts a sum of symbols and integers to a LinearSum. Replaces a symbol for a number that is
// read from a tensor with the tensor's value.
std::optional<LinearSum> IndexValues::expression_sum(const Expression& expression) {
  LinearSum sum;
  switch (expression.kind()) {
    case Expression::Kind::kInteger:
      sum.constant = expression.integer_value();
      return is_small(sum.constant) ? std::optional(sum) : std::nullopt;
    case Expression::Kind::kSymbol: {
      const auto item = items_.find(expression.name());
      if (item != items_.end()) return integer(Argument(item->second));
      sum.terms[expression.name()] = 1;
      return sum;
    }
    default:
      break;
  }
  if (expression.name() != "Add") return std::nullopt;
  for (const Expression::Pointer& argument : expression.arguments()) {
    const std::optional<LinearSum> term = expression_sum(*argument);
    const std::optional<LinearSum> next = term ? combined(sum, *term, 1) : std::nullopt;
    if (!next) return std::nullopt;
    sum = *next;
  }
  return sum;
}

// Returns the value of an input: an integer that the caller passes, or a stored table.
IndexValues::Result IndexValues::placeholder(const Node& node) {
  const TensorSpec& spec = *node.tensor();
  const InputSpec* input = program_.input_of(node.name());
  if (input == nullptr || !spec.is_static()) return std::nullopt;
  if (!has_data(input->kind)) {
    if (!is_integer(spec.dtype) || !std::ranges::all_of(spec.sizes, is_single)) return std::nullopt;
    LinearSum sum;
    sum.terms["%" + node.name()] = 1;
    return integer_value(sum);
  }
  const TensorData* data = program_.data_of(*input);
  if (data == nullptr || program_.is_mutated(*input) || data->numel() == 0 ||
      data->numel() > kMaxTableElements) {
    return std::nullopt;
  }
  for (size_t dim = 0; dim + 2 < spec.rank(); ++dim) {
    if (!is_single(spec.sizes[dim])) return std::nullopt;
  }
  return table(*data);
}

// Recognizes three kinds of stored tensors: 0, 1, 2..., a causal mask, and a single number.
IndexValues::Result IndexValues::table(const TensorData& data) {
  const std::vector<std::byte> bytes = row_major_bytes(data);
  const auto columns = static_cast<size_t>(data.sizes.empty() ? 1 : data.sizes.back());
  const size_t count = static_cast<size_t>(data.numel());
  const auto at = [&](size_t i) { return number_at(bytes.data(), data.dtype, i); };
  const auto all_elements = [&](const auto& expected) {
    for (size_t i = 0; i < count; ++i) {
      if (!expected(i / columns, i % columns, at(i))) return false;
    }
    return true;
  };
  if (is_integer(data.dtype)) {
    LinearSum sum;
    sum.constant = static_cast<int64_t>(at(0));
    if (count == 1 && is_small(sum.constant)) return integer_value(sum);
    const bool counts = count == columns && all_elements([](size_t, size_t column, double value) {
                          return value == static_cast<double>(column);
                        });
    return counts ? Result(integer_value(LinearSum::axis(0))) : std::nullopt;
  }
  const bool is_bool = data.dtype == ScalarType::kBool;
  if (count == 1 && !is_bool) return constant_value(at(0));
  const bool is_causal = all_elements([&](size_t row, size_t column, double value) {
    if (is_bool) return (value != 0) == (column <= row);
    return column <= row ? value == 0 : is_masking(value);
  });
  const bool is_triangle =
      !is_causal && !is_bool && all_elements([](size_t row, size_t column, double value) {
        return value == (column <= row ? 1 : 0);
      });
  if (!is_causal && !is_triangle) return std::nullopt;
  const auto condition = combined(LinearSum::axis(1), LinearSum::axis(0), -1);
  using Kind = IndexValue::Kind;
  return conditions_value(is_bool       ? Kind::kBoolMask
                          : is_triangle ? Kind::kOneMask
                                        : Kind::kAdditiveMask,
                          {*condition});
}

IndexValues::Result IndexValues::call(const Node& node) {
  const Target target = node.target();
  if (target.dialect() != Dialect::kAten || target.name_space() != "aten") return std::nullopt;
  const auto rule = std::ranges::find(rules(), target.op(), &Rule::op);
  const bool is_known = operator_of(target) != nullptr || find_functional(target.name()) != nullptr;
  if (rule == rules().end() || !is_known) return std::nullopt;
  return (this->*rule->compute)(node, Call(node));
}

std::optional<LinearSum> IndexValues::causal_from(const Node* mask) {
  Result value = of(mask);
  using Kind = IndexValue::Kind;
  if (!value || (value->kind != Kind::kBoolMask && value->kind != Kind::kAdditiveMask)) {
    return std::nullopt;
  }
  std::erase_if(value->conditions,
                [](const LinearSum& sum) { return sum.terms.empty() && sum.constant >= 0; });
  if (value->conditions.size() != 1) return std::nullopt;
  // If the condition is p + query - key >= 0, query i sees the keys up to p + i.
  std::optional<LinearSum> start = combined(value->conditions.front(), LinearSum::axis(0), 1);
  const TensorSpec& spec = *mask->tensor();
  const bool has_queries = spec.rank() > 1 && !is_single(spec.sizes[spec.rank() - 2]);
  if (start && has_queries) start = combined(*start, LinearSum::axis(1), -1);
  return start && !start->has_axes() ? start : std::nullopt;
}

}  // namespace vitrine::aot
