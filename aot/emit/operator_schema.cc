#include "aot/emit/operator_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

struct Row {
  std::string_view name;
  std::string_view arguments;
};

constexpr std::array kOperatorSchemas = {
#define X(name, arguments) Row{name, arguments},
#include "aot/emit/operator_schemas.inc"
#undef X
};

struct TypeName {
  std::string_view name;
  ArgumentType type;
  ArgumentType list;
};
constexpr std::array kTypes = {
    TypeName{"Tensor", ArgumentType::kTensor, ArgumentType::kTensors},
    TypeName{"int", ArgumentType::kInt, ArgumentType::kInts},
    TypeName{"SymInt", ArgumentType::kInt, ArgumentType::kInts},
    TypeName{"float", ArgumentType::kFloat, ArgumentType::kFloats},
    TypeName{"bool", ArgumentType::kBool, ArgumentType::kBools},
    TypeName{"Scalar", ArgumentType::kScalar, ArgumentType::kOther},
    TypeName{"str", ArgumentType::kOther, ArgumentType::kOther},
    TypeName{"ScalarType", ArgumentType::kOther, ArgumentType::kOther},
    TypeName{"MemoryFormat", ArgumentType::kOther, ArgumentType::kOther},
};

bool is_list(ArgumentType type) { return type >= ArgumentType::kTensors; }

// `length` is that of a list whose default is a single number: "int[2] padding=0".
Argument parse_default(std::string_view text, ArgumentType type, size_t length) {
  if (text == "None") return {};
  if (text == "True" || text == "False") return text == "True";
  if (text == "[]") return Argument::list({});
  if (text.starts_with('\'')) return std::string(text.substr(1, text.size() - 2));
  if (type == ArgumentType::kFloat || text.find('.') != std::string_view::npos) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (is_list(type)) return Argument::list(ArgumentList(length, Argument(value)));
  return value;
}

// "int[2] padding=0", "Tensor?[] indices", "Tensor! out".
OperatorArgument parse_argument(std::string_view text) {
  OperatorArgument argument;
  size_t at = std::min(
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), text.size());
  const auto found = std::ranges::find(kTypes, text.substr(0, at), &TypeName::name);
  if (found == kTypes.end()) {
    throw AotError(fmt::format("\"{}\" has no type that is known", text));
  }
  argument.type = found->type;
  size_t length = 1;
  for (; at < text.size() && text[at] != ' '; ++at) {
    if (text[at] == '!') argument.is_written = true;
    if (text[at] == '?') argument.is_optional = true;
    if (text[at] != '[') continue;
    const size_t end = text.find(']', at);
    std::from_chars(text.data() + at + 1, text.data() + end, length);
    // "Tensor?[]": the items are optional, not the list.
    const bool optional_items = std::exchange(argument.is_optional, false);
    argument.type = optional_items ? ArgumentType::kOptionalTensors : found->list;
    at = end;
  }
  text.remove_prefix(at + 1);
  const size_t equals = text.find('=');
  argument.name = text.substr(0, equals);
  if (equals != std::string_view::npos) {
    argument.has_default = true;
    argument.default_value = parse_default(text.substr(equals + 1), argument.type, length);
  }
  return argument;
}

OperatorSchema parse_schema(std::string_view text) {
  OperatorSchema schema;
  bool is_keyword = false;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(", "), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 2, text.size()));
    if (part == "*") {
      is_keyword = true;
      continue;
    }
    schema.arguments.push_back(parse_argument(part));
    schema.arguments.back().is_keyword = is_keyword;
  }
  return schema;
}

}  // namespace

std::vector<const OperatorArgument*> OperatorSchema::outs() const {
  std::vector<const OperatorArgument*> found;
  for (const OperatorArgument& argument : arguments) {
    if (argument.is_written && argument.is_keyword) found.push_back(&argument);
  }
  return found;
}

bool OperatorSchema::is_in_place() const {
  return outs().empty() && !arguments.empty() && arguments[0].is_written;
}

const OperatorSchema* find_operator_schema(std::string_view kernel) {
  static const auto kSchemas = [] {
    std::map<std::string_view, OperatorSchema> schemas;
    for (const Row& row : kOperatorSchemas) schemas.emplace(row.name, parse_schema(row.arguments));
    return schemas;
  }();
  const auto found = kSchemas.find(kernel);
  return found == kSchemas.end() ? nullptr : &found->second;
}

}  // namespace vitrine::aot
