#include "aot/operators/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

// Enumerators that signatures use as default values.
struct NamedDefault {
  std::string_view name;
  Argument (*value)();
};
constexpr NamedDefault kNamedDefaults[] = {
    {"long", [] { return Argument(ScalarType::kLong); }},
    {"float", [] { return Argument(ScalarType::kFloat); }},
    {"contiguous_format", [] { return Argument(MemoryFormat::kContiguous); }},
};

Argument named_default(const OperatorArgument& argument, std::string_view text) {
  if (argument.type == ArgumentType::kString) return std::string(text);
  const auto* const found = std::ranges::find(kNamedDefaults, text, &NamedDefault::name);
  if (found == std::end(kNamedDefaults)) {
    throw AotError(fmt::format("unknown default value {}", text));
  }
  return found->value();
}

Node* tensor_of(const Argument& argument) {
  Node* node = argument.node();
  return node == nullptr || node->tensor() == nullptr ? nullptr : node;
}

}  // namespace

Argument default_of(const OperatorArgument& argument) {
  struct Visitor {
    const OperatorArgument& argument;
    Argument operator()(std::monostate) const { return {}; }
    Argument operator()(bool value) const { return value; }
    Argument operator()(int64_t value) const { return value; }
    Argument operator()(double value) const { return value; }
    Argument operator()(std::string_view value) const { return named_default(argument, value); }
    Argument operator()(const std::vector<int64_t>& values) const { return values; }
  };
  return std::visit(Visitor{argument}, argument.default_value);
}

Call::Call(Target target, const ArgumentList& args, const ArgumentMap& kwargs)
    : target_(target), args_(args), kwargs_(kwargs), operator_(operator_of(target)) {
  if (operator_ == nullptr && target) operator_ = find_functional(target.name());
}

Call::Call(const Node& node, std::string_view context)
    : Call(node.target(), node.args(), node.kwargs()) {
  node_ = &node;
  context_ = context;
}

const Argument* Call::find(std::string_view name) const {
  const Argument* found = nullptr;
  if (operator_ != nullptr) {
    const auto at = std::ranges::find(operator_->arguments, name, &OperatorArgument::name);
    const auto index = static_cast<size_t>(at - operator_->arguments.begin());
    if (at != operator_->arguments.end() && index < args_.size()) found = &args_[index];
  }
  if (found == nullptr) {
    for (const auto& [key, value] : kwargs_) {
      if (key == name) found = &value;
    }
  }
  return found == nullptr || found->is_none() ? nullptr : found;
}

const Argument* Call::find(size_t index) const {
  if (operator_ != nullptr && index < operator_->arguments.size()) {
    return find(operator_->arguments[index].name);
  }
  return index < args_.size() && !args_[index].is_none() ? &args_[index] : nullptr;
}

Argument Call::value(std::string_view name) const {
  if (const Argument* found = find(name)) return *found;
  const OperatorArgument* argument = operator_ == nullptr ? nullptr : operator_->argument(name);
  return argument == nullptr ? Argument() : default_of(*argument);
}

Argument Call::need(std::string_view name) const {
  Argument found = value(name);
  if (found.is_none()) refuse(fmt::format("{} is missing", name));
  return found;
}

Node* Call::optional_node(std::string_view name) const {
  const Argument* found = find(name);
  return found == nullptr ? nullptr : tensor_of(*found);
}

Node& Call::node(std::string_view name) const {
  Node* found = optional_node(name);
  if (found == nullptr) refuse(fmt::format("{} is not a tensor", name));
  return *found;
}

std::vector<Node*> Call::nodes(std::string_view name) const {
  const Argument list = need(name);
  if (list.list() == nullptr) refuse(fmt::format("{} must be a list of tensors", name));
  std::vector<Node*> found;
  for (const Argument& item : *list.list()) {
    found.push_back(tensor_of(item));
    if (found.back() == nullptr) {
      refuse(fmt::format("{} contains an item that is not a tensor", name));
    }
  }
  return found;
}

const TensorSpec* Call::optional_tensor(std::string_view name) const {
  const Node* found = optional_node(name);
  return found == nullptr ? nullptr : found->tensor();
}

const TensorSpec& Call::tensor(std::string_view name) const { return *node(name).tensor(); }

std::vector<const TensorSpec*> Call::tensors(std::string_view name) const {
  std::vector<const TensorSpec*> found;
  for (const Node* node : nodes(name)) found.push_back(node->tensor());
  return found;
}

const TensorSpec& Call::self() const {
  const Argument* found = find(0);
  const Node* node = found == nullptr ? nullptr : tensor_of(*found);
  if (node == nullptr) refuse("the first argument is not a tensor");
  return *node->tensor();
}

SymInt Call::size(std::string_view name, std::optional<SymInt> fallback) const {
  const Argument found = value(name);
  if (found.is_none() && fallback) return *fallback;
  const std::optional<SymInt> size = size_of(need(name));
  if (!size) refuse(fmt::format("{} is not an integer", name));
  return *size;
}

std::vector<SymInt> Call::sizes(std::string_view name) const {
  const Argument found = need(name);
  std::vector<SymInt> sizes;
  const ArgumentList one = {found};
  for (const Argument& item : found.list() == nullptr ? one : *found.list()) {
    const std::optional<SymInt> size = size_of(item);
    if (!size) refuse(fmt::format("{} contains an item that is not a size", name));
    sizes.push_back(*size);
  }
  return sizes;
}

int64_t Call::integer(std::string_view name, std::optional<int64_t> fallback) const {
  const SymInt value = size(name, fallback ? std::optional<SymInt>(*fallback) : std::nullopt);
  if (!value.is_static()) refuse(fmt::format("{} must be a number, but it is symbolic", name));
  return value.value();
}

double Call::real(std::string_view name, std::optional<double> fallback) const {
  const Argument found = value(name);
  if (found.is_none() && fallback) return *fallback;
  if (const auto* value = found.get<double>()) return *value;
  if (const auto* value = found.get<int64_t>()) return static_cast<double>(*value);
  if (found.is_none()) refuse(fmt::format("{} is missing", name));
  refuse(fmt::format("{} is not a number", name));
}

bool Call::boolean(std::string_view name, std::optional<bool> fallback) const {
  const Argument found = value(name);
  if (found.is_none() && fallback) return *fallback;
  if (found.is_none()) refuse(fmt::format("{} is missing", name));
  const auto* value = found.get<bool>();
  if (value == nullptr) refuse(fmt::format("{} is not a bool", name));
  return *value;
}

std::vector<int64_t> Call::integers(std::string_view name, size_t count) const {
  std::vector<int64_t> values;
  if (!value(name).is_none()) {
    for (const SymInt& size : sizes(name)) {
      if (!size.is_static()) refuse(fmt::format("{} must not contain symbolic sizes", name));
      values.push_back(size.value());
    }
  }
  if (values.size() == 1 && count > 1) values.resize(count, values.front());
  if (count != 0 && values.size() != count) {
    refuse(fmt::format("{} has {} items, expected {}", name, values.size(), count));
  }
  return values;
}

ScalarType Call::dtype(std::string_view name, ScalarType fallback) const {
  const Argument found = value(name);
  if (found.is_none()) return fallback;
  const auto* value = found.get<ScalarType>();
  if (value == nullptr) refuse(fmt::format("{} is not a dtype", name));
  return *value;
}

void Call::refuse(std::string_view why) const {
  if (node_ != nullptr) fail_at(*node_, fmt::format("{}{}", context_, why));
  throw AotError(fmt::format("{}: {}", target_.name(), why));
}

size_t wrapped(int64_t dim, size_t rank) {
  const auto count = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -count || dim >= count) {
    throw AotError(fmt::format("dim {} is out of range for a tensor of rank {}", dim, rank));
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

std::optional<SymInt> size_of(const Argument& argument) {
  if (const auto* value = argument.get<int64_t>()) return SymInt(*value);
  const Node* node = argument.node();
  const Value::Number* number = node == nullptr ? nullptr : node->meta.value.number();
  if (number == nullptr || number->kind != Value::Number::Kind::kInt) return {};
  return number->value;
}

}  // namespace vitrine::aot
