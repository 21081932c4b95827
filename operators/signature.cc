#include "operators/signature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>

#include "runtime/core/parse_real.h"

namespace vitrine {
namespace {

struct TypeName {
  std::string_view name;
  ArgumentType type;
};
constexpr std::array kTypes = {
    TypeName{"Any", ArgumentType::kAny},
    TypeName{"Tensor", ArgumentType::kTensor},
    TypeName{"int", ArgumentType::kInt},
    TypeName{"SymInt", ArgumentType::kInt},
    TypeName{"float", ArgumentType::kFloat},
    TypeName{"bool", ArgumentType::kBool},
    TypeName{"Scalar", ArgumentType::kScalar},
    TypeName{"str", ArgumentType::kString},
    TypeName{"ScalarType", ArgumentType::kDtype},
    TypeName{"Layout", ArgumentType::kLayout},
    TypeName{"Device", ArgumentType::kDevice},
    TypeName{"MemoryFormat", ArgumentType::kMemoryFormat},
    TypeName{"Generator", ArgumentType::kGenerator},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Signature signature() {
    Signature signature;
    signature.name = until("(");
    expect("(");
    bool is_keyword_only = false;
    while (!take(")")) {
      if (take("*")) {
        is_keyword_only = true;
      } else {
        signature.arguments.push_back(argument());
        signature.arguments.back().is_keyword_only = is_keyword_only;
      }
      if (!take(", ") && !starts_with(")")) fail("expected \", \" or \")\"");
    }
    expect(" -> ");
    if (take("(")) {
      while (!take(")")) {
        signature.results.push_back(result());
        if (!take(", ") && !starts_with(")")) fail("expected \", \" or \")\"");
      }
    } else {
      signature.results.push_back(result());
    }
    if (at_ != text_.size()) fail("expected the end of the signature");
    return signature;
  }

 private:
  // Reads an argument, such as "int[2] padding=0", "Tensor?[] indices" or "Tensor(a!) out".
  OperatorArgument argument() {
    int64_t length = 1;
    OperatorArgument argument = type(length);
    expect(" ");
    argument.name = word();
    if (take("=")) {
      argument.has_default = true;
      argument.default_value = default_value(argument, length);
    }
    return argument;
  }

  // Reads a result, such as "Tensor(a)[]" or "Tensor values".
  OperatorArgument result() {
    int64_t length = 1;
    OperatorArgument result = type(length);
    if (take(" ")) result.name = word();
    return result;
  }

  // Reads a type. Sets `length` to 2 for "int[2]". Leaves `length` unchanged for a type without a
  // length.
  OperatorArgument type(int64_t& length) {
    const std::string_view name = word();
    const auto found = std::ranges::find(kTypes, name, &TypeName::name);
    if (found == kTypes.end()) fail("unknown type");
    OperatorArgument argument;
    argument.type = found->type;
    if (take("(")) {
      argument.alias = word()[0];
      argument.is_written = take("!");
      expect(")");
    }
    argument.is_optional = take("?");
    if (!take("[")) return argument;
    argument.is_list = true;
    argument.has_optional_items = argument.is_optional;
    if (!starts_with("]")) length = integer(until("]"));
    expect("]");
    argument.is_optional = take("?");
    return argument;
  }

  DefaultValue default_value(const OperatorArgument& argument, int64_t length) {
    if (take("[")) {
      std::vector<int64_t> items;
      while (!take("]")) {
        items.push_back(integer(until(",]")));
        take(", ");
      }
      return items;
    }
    if (take("'")) {
      const std::string_view value = until("'");
      expect("'");
      return value;
    }
    const std::string_view value = until(",)");
    if (value == "None") return {};
    if (value == "True" || value == "False") return value == "True";
    const bool is_number =
        !value.empty() && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
    if (!is_number) return value;
    const bool is_float = argument.type == ArgumentType::kFloat ||
                          value.find_first_of(".e") != std::string_view::npos;
    if (is_float) return real(value);
    const int64_t number = integer(value);
    if (argument.is_list) return std::vector<int64_t>(static_cast<size_t>(length), number);
    return number;
  }

  double real(std::string_view text) {
    double value = 0;
    if (!parse_real(text, value)) fail("invalid number");
    return value;
  }
  int64_t integer(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail("invalid number");
    return value;
  }

  bool starts_with(std::string_view text) const { return text_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) fail("expected \"" + std::string(text) + "\"");
  }
  std::string_view until(std::string_view any_of) {
    const size_t end = text_.find_first_of(any_of, at_);
    if (end == std::string_view::npos) fail("expected one of \"" + std::string(any_of) + "\"");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }
  std::string_view word() {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    if (end == at_) fail("expected a name");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument("signature " + std::string(text_) + ": " + why + " at character " +
                                std::to_string(at_));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Signature parse_signature(std::string_view text) { return Parser(text).signature(); }

}  // namespace vitrine
