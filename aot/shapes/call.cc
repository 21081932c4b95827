#include "aot/shapes/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {

const Argument* Call::find(size_t index, std::string_view name) const {
  const Argument* found = nullptr;
  if (index < args_.size()) {
    found = &args_[index];
  } else {
    for (const auto& [key, value] : kwargs_) {
      if (key == name) found = &value;
    }
  }
  return found == nullptr || found->is_none() ? nullptr : found;
}

const Argument& Call::need(size_t index, std::string_view name) const {
  const Argument* found = find(index, name);
  if (found == nullptr) refuse(fmt::format("its {} is missing", name));
  return *found;
}

const TensorSpec& Call::tensor(size_t index, std::string_view name) const {
  const TensorSpec* found = optional_tensor(index, name);
  if (found == nullptr) refuse(fmt::format("its {} is no tensor", name));
  return *found;
}

const TensorSpec* Call::optional_tensor(size_t index, std::string_view name) const {
  const Argument* found = find(index, name);
  const Node* node = found == nullptr ? nullptr : found->node();
  return node == nullptr ? nullptr : node->tensor();
}

std::vector<const TensorSpec*> Call::tensors(size_t index, std::string_view name) const {
  const ArgumentList* items = need(index, name).list();
  if (items == nullptr) refuse(fmt::format("its {} is no list", name));
  std::vector<const TensorSpec*> found;
  for (const Argument& item : *items) {
    const Node* node = item.node();
    if (node == nullptr || node->tensor() == nullptr) {
      refuse(fmt::format("its {} holds something that is no tensor", name));
    }
    found.push_back(node->tensor());
  }
  return found;
}

SymInt Call::size(size_t index, std::string_view name, std::optional<SymInt> fallback) const {
  const Argument* found = find(index, name);
  if (found == nullptr && fallback) return *fallback;
  const std::optional<SymInt> size = size_of(need(index, name));
  if (!size) refuse(fmt::format("its {} is no integer", name));
  return *size;
}

std::vector<SymInt> Call::sizes(size_t index, std::string_view name) const {
  const Argument& found = need(index, name);
  std::vector<SymInt> sizes;
  const ArgumentList one = {found};
  for (const Argument& item : found.list() == nullptr ? one : *found.list()) {
    const std::optional<SymInt> size = size_of(item);
    if (!size) refuse(fmt::format("its {} holds something that is no size", name));
    sizes.push_back(*size);
  }
  return sizes;
}

int64_t Call::integer(size_t index, std::string_view name, std::optional<int64_t> fallback) const {
  const SymInt value =
      size(index, name, fallback ? std::optional<SymInt>(*fallback) : std::nullopt);
  if (!value.is_static()) refuse(fmt::format("its {} is a symbol", name));
  return value.value();
}

bool Call::boolean(size_t index, std::string_view name, bool fallback) const {
  const Argument* found = find(index, name);
  if (found == nullptr) return fallback;
  const auto* value = found->get<bool>();
  if (value == nullptr) refuse(fmt::format("its {} is neither true nor false", name));
  return *value;
}

std::vector<int64_t> Call::integers(size_t index, std::string_view name, size_t count,
                                    int64_t fallback) const {
  std::vector<int64_t> values;
  if (find(index, name) != nullptr) {
    for (const SymInt& size : sizes(index, name)) {
      if (!size.is_static()) refuse(fmt::format("its {} holds a symbol", name));
      values.push_back(size.value());
    }
  }
  if (values.empty()) values.resize(count, fallback);
  if (values.size() == 1 && count > 1) values.resize(count, values.front());
  if (count != 0 && values.size() != count) {
    refuse(fmt::format("its {} has {} items, not {}", name, values.size(), count));
  }
  return values;
}

ScalarType Call::dtype(size_t index, std::string_view name, ScalarType fallback) const {
  const Argument* found = find(index, name);
  if (found == nullptr) return fallback;
  const auto* value = found->get<ScalarType>();
  if (value == nullptr) refuse(fmt::format("its {} is no dtype", name));
  return *value;
}

void Call::refuse(std::string_view why) const {
  throw AotError(fmt::format("{}: {}", target_.name(), why));
}

size_t wrapped(int64_t dim, size_t rank) {
  const auto count = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -count || dim >= count) {
    throw AotError(fmt::format("dim {} of a tensor of rank {}", dim, rank));
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
