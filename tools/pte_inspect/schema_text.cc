#include <fmt/format.h>

#include <array>
#include <variant>

#include "base/text/text_layout.h"
#include "operators/operator.h"
#include "tools/pte_inspect/picture.h"

namespace vitrine::tools {
namespace {

constexpr size_t kMaxFact = 1000;  // bytes

// Names of types in the order of ArgumentType.
constexpr std::array<std::string_view, 12> kTypeNames = {
    "Any", "Tensor", "int",    "float",  "bool",         "Scalar",
    "str", "dtype",  "Layout", "Device", "MemoryFormat", "Generator"};

struct DefaultText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{:g}", value); }
  std::string operator()(std::string_view value) const { return std::string(value); }
  std::string operator()(const std::vector<int64_t>& values) const {
    std::string text = "[";
    for (const int64_t value : values)
      text += (text.size() > 1 ? ", " : "") + std::to_string(value);
    return text + "]";
  }
};

std::string argument_text(const OperatorArgument& argument) {
  std::string text(kTypeNames.at(static_cast<size_t>(argument.type)));
  if (argument.is_written) text += "(a!)";
  if (argument.has_optional_items) text += "?";
  if (argument.is_list) text += "[]";
  if (argument.is_optional) text += "?";
  if (!argument.name.empty()) text += fmt::format(" {}", argument.name);
  if (argument.has_default) text += "=" + std::visit(DefaultText(), argument.default_value);
  return text;
}

std::string list_text(const std::vector<OperatorArgument>& arguments) {
  std::string text;
  bool has_star = false;
  for (const OperatorArgument& argument : arguments) {
    if (!text.empty()) text += ", ";
    if (argument.is_keyword_only && !has_star) text += "*, ";
    has_star |= argument.is_keyword_only;
    text += argument_text(argument);
  }
  return text;
}

}  // namespace

std::string schema_text(std::string_view target) {
  const Operator* op = find_operator(target);
  if (op == nullptr) return "";
  const std::string results = list_text(op->results);
  return fmt::format("{}({}) -> {}", target, list_text(op->arguments),
                     op->results.size() == 1 ? results : "(" + results + ")");
}

std::string short_fact(std::string text) {
  if (text.size() <= kMaxFact) return text;
  text.resize(kMaxFact);  // may cut a character in half, which printable() replaces
  return inspector::printable(text) + "…";
}

}  // namespace vitrine::tools
