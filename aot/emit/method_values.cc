#include "aot/emit/method_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

// Converts a bool or integer literal to the type of the kernel's parameter. A float literal, or any
// number for a kScalar parameter, keeps its type. Returns monostate for other arguments.
PlanValue number_of(const Argument& argument, ArgumentType type) {
  const bool is_float = type == ArgumentType::kFloat;
  const bool is_int = type == ArgumentType::kInt;
  if (const bool* value = argument.get<bool>()) {
    if (is_int) return int64_t{*value};
    if (is_float) return *value ? 1.0 : 0.0;
    return *value;
  }
  if (const int64_t* value = argument.get<int64_t>()) {
    if (is_float) return static_cast<double>(*value);
    if (type == ArgumentType::kBool) return *value != 0;
    return *value;
  }
  if (const double* value = argument.get<double>()) return *value;
  return std::monostate();
}

// Returns the initial value that the file stores for a number that is computed at run time.
PlanValue placeholder_of(const Value::Number* number) {
  using Kind = Value::Number::Kind;
  if (number == nullptr) return std::monostate();
  if (number->kind == Kind::kBool) return false;
  if (number->kind == Kind::kFloat) return 0.0;
  return int64_t{0};
}

bool needs_number(const OperatorArgument& to) {
  return !to.is_list && (to.type == ArgumentType::kInt || to.type == ArgumentType::kFloat ||
                         to.type == ArgumentType::kBool || to.type == ArgumentType::kScalar);
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

bool is_same(const ExternalTensor& a, const ExternalTensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.dim_order == b.dim_order &&
         std::ranges::equal(a.content.bytes, b.content.bytes);
}

bool has_tensor(const ArgumentList& items) {
  return std::ranges::any_of(items, [](const Argument& item) {
    return item.node() != nullptr && item.node()->tensor() != nullptr;
  });
}

}  // namespace

int32_t MethodValues::add(PlanValue value) {
  plan_.values.push_back(std::move(value));
  return static_cast<int32_t>(plan_.values.size() - 1);
}

int32_t MethodValues::add_number(const Value::Number* number) {
  return add(placeholder_of(number));
}

int32_t MethodValues::add_view(size_t tensor) {
  return value_of_tensor_[tensor] = add(tensors_.tensor(tensor).value);
}

int32_t MethodValues::tensor_value(size_t id) {
  const auto [found, is_new] = value_of_tensor_.try_emplace(id);
  if (!is_new) return found->second;
  TensorValue value = tensors_.tensor(id).value;
  if (tensors_.tensor(id).data != nullptr) set_data(id, value);
  return value_of_tensor_[id] = add(std::move(value));
}

bool MethodValues::is_external(size_t tensor) const {
  const InputSpec* weight = tensors_.tensor(tensor).weight;
  return options_.external_constants && weight != nullptr && !weight->is_lifted_number &&
         !tensors_.storage_of(tensor).is_planned;
}

void MethodValues::set_data(size_t id, TensorValue& value) {
  const MethodTensor& tensor = tensors_.tensor(id);
  SharedBytes content = bytes_in_order(*tensor.data, tensor.data_order);
  if (tensors_.storage_of(id).is_planned) {
    // Runtimes fill mutable buffers with zeros at load time, so a buffer of zeros needs no data.
    if (is_zero(content.bytes)) return;
    value.data_index = static_cast<uint32_t>(parts_.initial_states.add(std::move(content)) + 1);
  } else if (is_external(id)) {
    set_external(*tensor.weight, std::move(content), value);
  } else {
    value.data_index = static_cast<uint32_t>(parts_.constants.add(std::move(content)) + 1);
  }
}

void MethodValues::set_external(const InputSpec& weight, SharedBytes content, TensorValue& value) {
  const ExternalTensor made{plan_.name, value.dtype, value.sizes, value.dim_order,
                            std::move(content)};
  value.external_name = weight.target;
  while (true) {
    const auto [first, is_new] = parts_.external_tensors.emplace(value.external_name, made);
    if (is_new || is_same(first->second, made)) return;
    if (is_in_state(weight)) {
      throw AotError(
          fmt::format("weight {} differs from the weight of the same name in method {}, but a .ptd "
                      "file stores one weight per name",
                      weight.target, first->second.method));
    }
    // Constants of different methods may have equal names, so the method's name is added.
    value.external_name += "@" + plan_.name;
  }
}

const MethodValues::Ids& MethodValues::make_results(const Node& node) {
  Ids ids;
  for (const size_t id : tensors_.of(node)) {
    ids.push_back(id != kNoTensor ? tensor_value(id) : add_number(node.meta.value.number()));
  }
  return results_[&node] = std::move(ids);
}

int32_t MethodValues::value_of(const Node& user, const Node& node) const {
  const auto found = results_.find(&node);
  if (found == results_.end() || found->second.size() != 1) {
    fail_at(user, fmt::format("its argument {} must have exactly one value", node.name()));
  }
  return found->second[0];
}

int32_t MethodValues::add_argument(const Node& user, const Argument& argument,
                                   const OperatorArgument& to) {
  const bool is_tensor = to.type == ArgumentType::kTensor && !to.is_list;
  if (const Node* node = argument.node()) {
    const bool is_number = node->meta.value.number() != nullptr;
    if (is_tensor ? is_number : needs_number(to) && !is_number) {
      fail_at(user, fmt::format("its {} is {}, which is not a {}", to.name, node->name(),
                                is_number ? "tensor" : "number"));
    }
    return value_of(user, *node);
  }
  if (is_tensor && !argument.is_none()) {
    fail_at(user, fmt::format("its {} is a literal, not a tensor", to.name));
  }
  if (const ArgumentList* items = argument.list()) return add_list(user, *items, to);
  if (argument.is_none()) {
    if (!is_tensor || to.is_optional) return add(std::monostate());
    // None becomes a tensor without elements, because the kernel requires a tensor.
    TensorValue empty;
    empty.dtype = ScalarType::kByte;
    empty.sizes = {0};
    empty.dim_order = {0};
    return add(std::move(empty));
  }
  return add_literal(user, argument, to.type);
}

int32_t MethodValues::add_literal(const Node& user, const Argument& argument, ArgumentType type) {
  if (argument.get<bool>() || argument.get<int64_t>() || argument.get<double>()) {
    return add(number_of(argument, type));
  }
  if (const auto* text = argument.get<std::string>()) return add(*text);
  if (const auto* dtype = argument.get<ScalarType>()) {
    return add(int64_t{static_cast<int8_t>(*dtype)});
  }
  if (const auto* layout = argument.get<Layout>()) {
    if (*layout == Layout::kStrided) return add(int64_t{0});
    fail_at(user, "has a layout argument that is not strided");
  }
  if (const auto* format = argument.get<MemoryFormat>()) {
    if (*format == MemoryFormat::kContiguous) return add(int64_t{0});
    if (*format == MemoryFormat::kPreserve) return add(int64_t{1});
    fail_at(user, "has a memory format argument other than contiguous or preserve");
  }
  fail_at(user, "has an argument of a kind that programs do not support");
}

int32_t MethodValues::add_list(const Node& user, const ArgumentList& items,
                               const OperatorArgument& to) {
  const auto is_float = [](const Argument& item) { return item.get<double>() != nullptr; };
  const auto is_bool = [](const Argument& item) { return item.get<bool>() != nullptr; };
  const bool is_any = to.type == ArgumentType::kAny;
  if (to.type == ArgumentType::kFloat || (is_any && std::ranges::any_of(items, is_float))) {
    std::vector<double> numbers;
    for (const Argument& item : items) {
      const PlanValue number = number_of(item, ArgumentType::kFloat);
      if (!std::holds_alternative<double>(number)) fail_at(user, "a list item is not a number");
      numbers.push_back(std::get<double>(number));
    }
    return add(std::move(numbers));
  }
  if (to.type == ArgumentType::kBool || (is_any && std::ranges::any_of(items, is_bool))) {
    std::vector<bool> flags;
    for (const Argument& item : items) {
      if (!is_bool(item)) fail_at(user, "a list item is not a bool");
      flags.push_back(*item.get<bool>());
    }
    return add(std::move(flags));
  }
  return add_index_list(user, items, to);
}

int32_t MethodValues::add_index_list(const Node& user, const ArgumentList& items,
                                     const OperatorArgument& to) {
  IndexList list;
  if (to.has_optional_items || std::ranges::any_of(items, &Argument::is_none)) {
    list.kind = IndexList::Kind::kOptionalTensors;
  } else if (to.type == ArgumentType::kTensor ||
             (to.type == ArgumentType::kAny && has_tensor(items))) {
    list.kind = IndexList::Kind::kTensors;
  }
  for (const Argument& item : items) list.items.push_back(item_value(user, item, list.kind));
  return add(std::move(list));
}

int32_t MethodValues::item_value(const Node& user, const Argument& item, IndexList::Kind kind) {
  using Kind = IndexList::Kind;
  if (const Node* node = item.node()) {
    const Value::Number* number = node->meta.value.number();
    const bool fits = kind != Kind::kInts
                          ? number == nullptr
                          : number != nullptr && number->kind == Value::Number::Kind::kInt;
    if (!fits)
      fail_at(user, fmt::format("its list contains {}, which is not {}", node->name(),
                                kind == Kind::kInts ? "an integer" : "a tensor"));
    return value_of(user, *node);
  }
  if (item.is_none() && kind == Kind::kOptionalTensors) return -1;
  if (kind != Kind::kInts) fail_at(user, "a list item is not a tensor");
  const PlanValue number = number_of(item, ArgumentType::kInt);
  if (!std::holds_alternative<int64_t>(number)) fail_at(user, "a list item is not an integer");
  return add(number);
}

}  // namespace vitrine::aot
