#include "aot/import/graph_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "aot/import/import_limits.h"
#include "aot/import/node_metadata.h"
#include "aot/import/tensor_meta.h"

namespace vitrine::aot {
namespace {

// True if the operator accepts this argument only by keyword. Files of torch 2.7 and earlier do not
// contain this information.
bool is_keyword_only(Target target, std::string_view name) {
  const Operator* op = operator_of(target);
  if (op == nullptr) op = find_functional(target.name());
  const OperatorArgument* argument = op == nullptr ? nullptr : op->argument(name);
  return argument != nullptr && argument->is_keyword_only;
}

template <class Read>
Argument list_of(const JsonValue& value, Read read) {
  ArgumentList items;
  value.each_item([&](const JsonValue& item) { items.push_back(read(item)); });
  return Argument::list(std::move(items));
}

using ReadLiteral = Argument (*)(const JsonValue&);

Argument read_bool(const JsonValue& value) { return value.boolean(); }
Argument read_int(const JsonValue& value) { return value.integer(); }
Argument read_float(const JsonValue& value) { return value.number(); }
Argument read_string(const JsonValue& value) { return value.string(); }
template <ReadLiteral read>
Argument read_list(const JsonValue& value) {
  return list_of(value, read);
}
Argument read_complex(const JsonValue& value) {
  return std::complex<double>(value.at("real").number(), value.at("imag").number());
}

struct Literal {
  std::string_view variant;
  ReadLiteral read;
};
constexpr std::array kLiterals = {
    Literal{"as_none", [](const JsonValue&) { return Argument(); }},
    Literal{"as_int", read_int},
    Literal{"as_ints", read_list<read_int>},
    Literal{"as_int_lists", read_list<read_list<read_int>>},
    Literal{"as_float", read_float},
    Literal{"as_floats", read_list<read_float>},
    Literal{"as_float_lists", read_list<read_list<read_float>>},
    Literal{"as_bool", read_bool},
    Literal{"as_bools", read_list<read_bool>},
    Literal{"as_string", read_string},
    Literal{"as_strings", read_list<read_string>},
    Literal{"as_complex", read_complex},
    Literal{"as_scalar_type", [](const JsonValue& v) { return Argument(read_dtype(v)); }},
    Literal{"as_memory_format", [](const JsonValue& v) { return Argument(read_memory_format(v)); }},
    Literal{"as_layout", [](const JsonValue& v) { return Argument(read_layout(v)); }},
    Literal{"as_device", [](const JsonValue& v) { return Argument(read_device(v)); }},
    Literal{"as_operator", [](const JsonValue& v) { return Argument(Target::parse(v.string())); }},
};

struct NumberKind {
  std::string_view variant;  // key of the Argument union
  const char* map;           // field of the graph that holds the values
  Value::Number::Kind kind;
};
constexpr std::array kNumbers = {
    NumberKind{"as_sym_int", "sym_int_values", Value::Number::Kind::kInt},
    NumberKind{"as_sym_float", "sym_float_values", Value::Number::Kind::kFloat},
    NumberKind{"as_sym_bool", "sym_bool_values", Value::Number::Kind::kBool},
};

const NumberKind* number_kind(std::string_view variant) {
  for (const NumberKind& kind : kNumbers) {
    if (kind.variant == variant) return &kind;
  }
  return nullptr;
}

// torch.export marks results that nothing uses with "_unused_" in their names.
bool is_unused(std::string_view name) { return name.find("_unused_") != std::string_view::npos; }

std::optional<JsonValue> only_item(const JsonValue& list) {
  std::optional<JsonValue> item;
  if (list.size() == 1) list.each_item([&](const JsonValue& each) { item = each; });
  return item;
}

// Returns the name of a single tensor or number. Empty for other results.
std::optional<JsonValue> name_of_result(const JsonValue& output) {
  const auto [kind, content] = output.variant();
  const bool is_number = number_kind(kind) != nullptr && content.has("as_name");
  if (kind != "as_tensor" && !is_number) return std::nullopt;
  const JsonValue name = content.at(is_number ? "as_name" : "name");
  if (name.string().empty()) return std::nullopt;
  return name;
}

}  // namespace

GraphReader::GraphReader(const JsonValue& json, Graph& graph, int depth)
    : json_(json), graph_(graph), depth_(depth) {}

void GraphReader::read(const std::vector<std::string>& literal_names) {
  const JsonValue inputs = json_.at("inputs");
  if (!literal_names.empty() && literal_names.size() != inputs.size()) {
    inputs.fail(fmt::format("has {} inputs, but the signature has {}", inputs.size(),
                            literal_names.size()));
  }
  size_t index = 0;
  inputs.each_item([&](const JsonValue& input) {
    read_input(input, literal_names.empty() ? "" : literal_names[index]);
    ++index;
  });
  json_.at("nodes").each_item([&](const JsonValue& node) { read_node(node); });

  ArgumentList results;
  json_.at("outputs").each_item(
      [&](const JsonValue& output) { results.push_back(argument(output)); });
  const bool is_bare = json_.has("is_single_tensor_return") &&
                       json_.at("is_single_tensor_return").boolean() && results.size() == 1;
  graph_.set_output(is_bare ? results.front() : Argument::tuple(std::move(results)));
}

Node* GraphReader::value_of(const JsonValue& name) const {
  const auto found = values_.find(name.string());
  if (found == values_.end())
    name.fail(fmt::format("value \"{}\" is not defined before its use", name.string()));
  return found->second;
}

void GraphReader::define(const JsonValue& name, Node* node) {
  if (!values_.emplace(name.string(), node).second) {
    name.fail(fmt::format("value \"{}\" is defined twice", name.string()));
  }
}

// Returns `base`, or `base` with a number if the graph or the file already uses the name.
std::string GraphReader::free_name(std::string_view base) const {
  const auto is_taken = [&](const std::string& name) {
    const auto has = [&](const char* map) { return json_.has(map) && json_.at(map).has(name); };
    return graph_.find(name) != nullptr || has("tensor_values") ||
           std::ranges::any_of(kNumbers, has, &NumberKind::map);
  };
  std::string name(base);
  for (size_t i = 1; is_taken(name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

void GraphReader::read_input(const JsonValue& value, const std::string& literal_name) {
  const auto [kind, content] = value.variant();
  Node* node = nullptr;
  if (kind == "as_tensor" || kind == "as_custom_obj") {
    node = graph_.placeholder(content.at("name").string());
    define(content.at("name"), node);
    if (kind == "as_tensor") node->meta.value = read_value(value);
  } else if (number_kind(kind) != nullptr && content.has("as_name")) {
    node = graph_.placeholder(content.at("as_name").string());
    define(content.at("as_name"), node);
    node->meta.value = read_value(value);
  } else {
    argument(value);  // checks that the literal is valid
    node = graph_.placeholder(free_name(literal_name.empty() ? "literal" : literal_name));
  }
  inputs_.push_back(node);
}

Value GraphReader::read_value(const JsonValue& output) const {
  const auto [kind, content] = output.variant();
  if (kind == "as_tensor") {
    const JsonValue name = content.at("name");
    const JsonValue values = json_.at("tensor_values");
    if (!values.has(name.string())) {
      name.fail(fmt::format("tensor_values lacks \"{}\"", name.string()));
    }
    return read_tensor_meta(values.at(name.string()));
  }
  if (kind == "as_tensors") {
    Value::Items items;
    content.each_item([&](const JsonValue& item) {
      const JsonValue name = item.at("name");
      const JsonValue values = json_.at("tensor_values");
      // Unused tensors may be missing from tensor_values.
      items.push_back(values.has(name.string()) ? Value(read_tensor_meta(values.at(name.string())))
                                                : Value());
    });
    return items;
  }
  if (const NumberKind* number = number_kind(kind)) {
    Value::Number made;
    made.kind = number->kind;
    if (!content.has("as_name")) return made;
    const JsonValue name = content.at("as_name");
    const JsonValue values = json_.at(number->map);
    if (!values.has(name.string())) {
      name.fail(fmt::format("{} lacks \"{}\"", number->map, name.string()));
    }
    made.value = read_sym_int(values.at(name.string()));
    return made;
  }
  if (kind != "as_none") output.fail(fmt::format("results of kind {} are not supported", kind));
  return {};
}

Argument GraphReader::sym(const JsonValue& value) {
  const auto [kind, content] = value.variant();
  if (kind == "as_name") return value_of(content);
  if (kind == "as_int") return content.integer();
  if (kind == "as_bool") return content.boolean();
  if (kind == "as_float") return content.number();
  value.fail(fmt::format("expected a name or a number, found {}", kind));
}

Argument GraphReader::subgraph(const JsonValue& value) {
  if (depth_ == kMaxGraphDepth) {
    value.fail(fmt::format("graphs nest deeper than {} levels", kMaxGraphDepth));
  }
  const std::string& name = value.at("name").string();
  Node* node = graph_.get_attr(free_name(name));
  auto inner = std::make_unique<Graph>();
  GraphReader(value.at("graph"), *inner, depth_ + 1).read({});
  graph_.subgraphs()[node->attribute()] = std::move(inner);
  return node;
}

Argument GraphReader::argument(const JsonValue& value) {
  const auto [kind, content] = value.variant();
  for (const Literal& literal : kLiterals) {
    if (literal.variant == kind) return literal.read(content);
  }
  const auto named = [&](const JsonValue& item) -> Argument { return value_of(item.at("name")); };
  const auto optional = [&](const JsonValue& item) -> Argument {
    const auto [variant, tensor] = item.variant();
    if (variant == "as_none") return {};
    if (variant != "as_tensor") {
      item.fail(fmt::format("expected as_tensor or as_none, found {}", variant));
    }
    return named(tensor);
  };
  const auto symbol = [&](const JsonValue& item) { return sym(item); };
  if (kind == "as_tensor" || kind == "as_custom_obj") return named(content);
  if (kind == "as_tensors") return list_of(content, named);
  if (kind == "as_nested_tensors") {
    return list_of(content, [&](const JsonValue& item) { return list_of(item, named); });
  }
  if (kind == "as_optional_tensor") return optional(content);
  if (kind == "as_optional_tensors") return list_of(content, optional);
  if (number_kind(kind) != nullptr) return sym(content);
  if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools") {
    return list_of(content, symbol);
  }
  if (kind == "as_graph") return subgraph(content);
  if (kind == "as_string_to_argument") {
    ArgumentMap items;
    content.each_member([&](const std::string& key, const JsonValue& item) {
      items.emplace_back(key, argument(item));
    });
    return Argument::map(std::move(items));
  }
  value.fail(fmt::format("arguments of kind {} are not supported", kind));
}

// Adds a getitem node for a result that the file names. Unused results get no node, as in FX.
void GraphReader::add_getitem(const JsonValue& name, Node* from, size_t index, const Value& value) {
  if (is_unused(name.string())) return;
  Node* item =
      graph_.call(getitem(), {from, static_cast<int64_t>(index)}, {}, nullptr, name.string());
  item->meta = from->meta;
  item->meta.value = value;
  define(name, item);
}

void GraphReader::add_getitems(const JsonValue& tensors, Node* list) {
  const Value::Items values = *list->meta.value.items();
  size_t index = 0;
  tensors.each_item([&](const JsonValue& tensor) {
    add_getitem(tensor.at("name"), list, index, values[index]);
    ++index;
  });
}

void GraphReader::read_result(const JsonValue& output, size_t index, Node* node,
                              const Value& value) {
  const auto [kind, content] = output.variant();
  if (kind == "as_none") return;
  if (kind != "as_tensors") {
    return add_getitem(content.at(kind == "as_tensor" ? "name" : "as_name"), node, index, value);
  }
  Node* list = graph_.call(getitem(), {node, static_cast<int64_t>(index)}, {}, nullptr,
                           free_name("getitem"));
  list->meta = node->meta;
  list->meta.value = value;
  add_getitems(content, list);
}

void GraphReader::read_results(const JsonValue& outputs, Node* node) {
  Value::Items items;
  outputs.each_item([&](const JsonValue& output) {
    items.push_back(read_value(output));
    read_result(output, items.size() - 1, node, items.back());
  });
  if (!items.empty()) node->meta.value = std::move(items);
}

void GraphReader::read_arguments(const JsonValue& inputs, const Target& target, ArgumentList& args,
                                 ArgumentMap& kwargs) {
  constexpr int64_t kKeyword = 2;
  inputs.each_item([&](const JsonValue& input) {
    Argument arg = argument(input.at("arg"));
    const bool has_kind = input.holds("kind");
    const bool is_keyword =
        has_kind ? input.at("kind").integer() == kKeyword
                 : !kwargs.empty() || is_keyword_only(target, input.at("name").string());
    if (is_keyword) {
      kwargs.emplace_back(input.at("name").string(), std::move(arg));
    } else {
      if (!kwargs.empty()) input.fail("positional argument after a keyword argument");
      args.push_back(std::move(arg));
    }
  });
}

void GraphReader::read_node(const JsonValue& value) {
  const std::string& text = value.at("target").string();
  if (text.empty() || text.size() > kMaxTargetLength) {
    value.at("target").fail(
        fmt::format("expected 1 to {} characters, found {}", kMaxTargetLength, text.size()));
  }
  const Target target = Target::parse(text);
  ArgumentList args;
  ArgumentMap kwargs;
  read_arguments(value.at("inputs"), target, args, kwargs);

  const JsonValue outputs = value.at("outputs");
  const std::optional<JsonValue> output = only_item(outputs);
  std::optional<JsonValue> name = output ? name_of_result(*output) : std::nullopt;
  if (value.holds("is_hop_single_tensor_return") &&
      !value.at("is_hop_single_tensor_return").boolean()) {
    name.reset();
  }
  Node* node = graph_.call(target, std::move(args), std::move(kwargs), nullptr,
                           name                  ? name->string()
                           : value.holds("name") ? free_name(value.at("name").string())
                                                 : free_name(target.op()));
  node->meta.origin = read_origin(value.at("metadata"));
  if (name) {
    node->meta.value = read_value(*output);
    define(*name, node);
  } else if (output && output->has("as_tensors")) {
    node->meta.value = read_value(*output);
    add_getitems(output->at("as_tensors"), node);
  } else {
    read_results(outputs, node);
  }
}

}  // namespace vitrine::aot
