#include "aot/emit/source_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/serialized_dtypes.h"

namespace vitrine::aot {
namespace {

using nlohmann::ordered_json;

constexpr int kStrided = 7;

ordered_json size_json(const SymInt& size) {
  if (size.is_static()) return union_json("as_int", size.value());
  return union_json("as_expr", {{"expr_str", to_text(size)}});
}

ordered_json sizes_json(const std::vector<SymInt>& sizes) {
  ordered_json made = ordered_json::array();
  for (const SymInt& size : sizes) made.push_back(size_json(size));
  return made;
}

ordered_json device_json(const Device& device) {
  ordered_json made = {{"type", device.type}};
  if (device.index >= 0) made["index"] = device.index;
  return made;
}

int layout_number(Layout layout) {
  return layout == Layout::kStrided ? kStrided : static_cast<int>(layout);
}

}  // namespace

ordered_json union_json(const char* kind, ordered_json content) {
  ordered_json made = ordered_json::object();
  made[kind] = std::move(content);
  return made;
}

ordered_json tensor_json(const TensorSpec& spec) {
  return {{"dtype", number_of_dtype(DtypeNumbering::kExir, spec.dtype)},
          {"sizes", sizes_json(spec.sizes)},
          {"requires_grad", spec.requires_grad},
          {"device", device_json(spec.device)},
          {"strides", sizes_json(spec.strides)},
          {"storage_offset", size_json(spec.storage_offset)},
          {"layout", layout_number(spec.layout)}};
}

const std::string& SourceValues::name_of(const Node& node) {
  const auto [found, is_new] = names_.try_emplace(&node);
  if (!is_new) return found->second;
  std::string name = node.name();
  for (size_t i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}__{}", node.name(), i);
  return found->second = std::move(name);
}

ordered_json SourceValues::reference(const Node& node) {
  const Value::Number* number = node.meta.value.number();
  if (number == nullptr) return union_json("as_tensor", {{"name", name_of(node)}});
  const bool is_bool = number->kind == Value::Number::Kind::kBool;
  return union_json(is_bool ? "as_sym_bool" : "as_sym_int", {{"as_name", name_of(node)}});
}

ordered_json SourceValues::argument(const Argument& argument) {
  if (const Node* node = argument.node()) return reference(*node);
  if (const ArgumentList* items = argument.list()) return list(*items);
  if (const bool* flag = argument.get<bool>()) return union_json("as_bool", *flag);
  if (const int64_t* number = argument.get<int64_t>()) return union_json("as_int", *number);
  if (const double* number = argument.get<double>()) return union_json("as_float", *number);
  if (const auto* text = argument.get<std::string>()) return union_json("as_string", *text);
  if (const auto* dtype = argument.get<ScalarType>()) {
    return union_json("as_scalar_type", number_of_dtype(DtypeNumbering::kExir, *dtype));
  }
  if (const auto* format = argument.get<MemoryFormat>()) {
    return union_json("as_memory_format", static_cast<int>(*format) + 1);
  }
  if (const auto* layout = argument.get<Layout>()) {
    return union_json("as_layout", layout_number(*layout));
  }
  if (const auto* device = argument.get<Device>())
    return union_json("as_device", device_json(*device));
  return union_json("as_none", ordered_json::array());
}

ordered_json SourceValues::list(const ArgumentList& items) {
  const auto any = [&](auto predicate) { return std::ranges::any_of(items, predicate); };
  const auto all_as = [&](const char* kind, auto make) {
    ordered_json made = ordered_json::array();
    for (const Argument& item : items) made.push_back(make(item));
    return union_json(kind, std::move(made));
  };
  const auto is_number = [](const Argument& item) {
    return item.node() != nullptr && item.node()->meta.value.number() != nullptr;
  };
  const auto is_tensor = [&](const Argument& item) {
    return item.node() != nullptr && !is_number(item);
  };
  if (any(is_tensor) && any([](const Argument& item) { return item.is_none(); })) {
    return all_as("as_optional_tensors", [&](const Argument& item) { return argument(item); });
  }
  if (any(is_tensor)) {
    return all_as("as_tensors", [&](const Argument& item) {
      return ordered_json{{"name", item.node() == nullptr ? "" : name_of(*item.node())}};
    });
  }
  if (any(is_number)) {
    return all_as("as_sym_ints", [&](const Argument& item) {
      return item.node() != nullptr ? ordered_json{{"as_name", name_of(*item.node())}}
                                    : argument(item);
    });
  }
  if (any([](const Argument& item) { return item.get<double>() != nullptr; })) {
    return all_as("as_floats", [](const Argument& item) {
      if (const int64_t* number = item.get<int64_t>()) return ordered_json(double(*number));
      return ordered_json(item.get<double>() == nullptr ? 0.0 : *item.get<double>());
    });
  }
  if (any([](const Argument& item) { return item.get<bool>() != nullptr; })) {
    return all_as("as_bools", [](const Argument& item) {
      return ordered_json(item.get<bool>() != nullptr && *item.get<bool>());
    });
  }
  if (any([](const Argument& item) { return item.get<std::string>() != nullptr; })) {
    return all_as("as_strings", [](const Argument& item) {
      return ordered_json(item.get<std::string>() == nullptr ? "" : *item.get<std::string>());
    });
  }
  return all_as("as_ints", [](const Argument& item) {
    return ordered_json(item.get<int64_t>() == nullptr ? 0 : *item.get<int64_t>());
  });
}

}  // namespace vitrine::aot
