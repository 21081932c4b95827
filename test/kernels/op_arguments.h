// Parses and prints arguments of operators in the notation of op_arguments.inc. That file has at
// least one call to every kernel. Tests can modify the parsed arguments.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/parse_real.h"
#include "vitrine/scalar_type.h"

namespace vitrine::test {

struct Number {
  bool is_real = false;
  int64_t integer = 0;
  double real = 0;

  static Number of(int64_t value) { return {false, value, 0}; }
  static Number of(double value) { return {true, 0, value}; }
};

// One argument, or an item of a list of tensors.
struct Argument {
  enum class Kind : uint8_t {
    kNone,
    kInt,
    kDouble,
    kBool,
    kString,
    kScalarType,
    kInts,
    kDoubles,
    kBools,
    kTensor,
    kTensors,
    kOptionalTensors,
    kSame,  // the same EValue as argument number `integer`
  };

  Kind kind = Kind::kNone;
  std::string name;
  bool output = false;  // true for tensors that the operator writes

  int64_t integer = 0;  // also the value of kBool and kScalarType
  double real = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<bool> bools;
  std::vector<Argument> items;

  // The following members are only for tensors.
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;  // empty for 0, 1, 2, ...
  std::vector<Number> elements;    // repeated as needed; empty for small numbers
  int pattern = -1;                // value of every byte; -1 to use `elements`
  bool is_static = false;          // true if an output cannot be resized
  bool resizable = false;          // true if the text of an output has a ~
  bool roomy = false;              // true if an output has memory for more elements than its shape
  bool no_memory = false;
  bool read_only = false;
  int shares_memory_of = -1;  // index of the argument that this one overlaps; -1 for none
  size_t shares_item = 0;     // if this is a list, its item that overlaps
  size_t shared_item = 0;     // if the other argument is a list, its item that is overlapped
  // Byte offset of this tensor from the start of the tensor that it overlaps. A negative offset
  // means that this tensor begins before the other.
  int64_t shares_from = 0;

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_list_of_tensors() const {
    return kind == Kind::kTensors || kind == Kind::kOptionalTensors;
  }
  // The items of a list of tensors, or the tensor itself.
  std::span<const Argument> tensors() const {
    if (is_list_of_tensors()) return items;
    return {this, is_tensor() ? size_t{1} : 0};
  }
};

// Parses a dtype such as "f32". All parsers in this file abort on errors, because tests supply the
// text.
inline ScalarType scalar_type_named(std::string_view name) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    if (name == scalar_type_name(static_cast<ScalarType>(i))) return static_cast<ScalarType>(i);
  }
  ADD_FAILURE() << "unknown dtype " << name;
  std::abort();
}

class ArgumentParser {
 public:
  explicit ArgumentParser(std::string_view text) : rest_(text) {}

  std::vector<Argument> arguments() {
    std::vector<Argument> result;
    while (!rest_.empty()) {
      const size_t end = rest_.find_first_of("= [({'");
      const bool has_name = end != rest_.npos && rest_[end] == '=';
      const std::string_view name = has_name ? until("=") : std::string_view();
      skip('=');
      result.push_back(value());
      result.back().name = name;
      if (!rest_.empty()) take(' ');
    }
    return result;
  }

  static Number number(std::string_view text) {
    if (text == "min") return Number::of(INT64_MIN);
    if (text == "max") return Number::of(INT64_MAX);
    Number result;
    result.is_real = text.find_first_of(".n") != text.npos;  // "nan" and "inf" are real, too
    const char* end = text.data() + text.size();
    if (result.is_real
            ? !parse_real(text, result.real)
            : text.empty() || std::from_chars(text.data(), end, result.integer).ptr != end) {
      ADD_FAILURE() << "not a number: " << text;
      std::abort();
    }
    return result;
  }

 private:
  using Kind = Argument::Kind;

  Argument value() {
    Argument result;
    result.output = skip('!');
    result.resizable = skip('~');
    if (peek() == '(' || peek() == '?') {
      result.kind = skip('?') ? Kind::kOptionalTensors : Kind::kTensors;
      take('(');
      while (!skip(')')) {
        result.items.push_back(value());
        result.items.back().output = result.output;
        skip(',');
      }
    } else if (skip('[')) {
      list(result);
    } else if (skip('\'')) {
      result.kind = Kind::kString;
      result.text = until("'");
      take('\'');
    } else if (skip('@')) {
      result.kind = Kind::kScalarType;
      result.integer = static_cast<int64_t>(scalar_type_named(until(" ")));
    } else {
      word(until("[ ,)"), result);
    }
    return result;
  }

  void word(std::string_view text, Argument& result) {
    if (text == "none") {
      result.kind = Kind::kNone;
    } else if (text == "true" || text == "false") {
      result.kind = Kind::kBool;
      result.integer = text == "true" ? 1 : 0;
    } else if (peek() == '[') {
      result.kind = Kind::kTensor;
      result.dtype = scalar_type_named(text);
      take('[');
      while (!skip(']')) {
        result.sizes.push_back(static_cast<int32_t>(number(until(",]")).integer));
        skip(',');
      }
      if (skip(':')) {
        for (const char dim : until("{ ,)")) {
          result.dim_order.push_back(static_cast<uint8_t>(dim - '0'));
        }
      }
      if (!skip('{')) return;
      while (!skip('}')) {
        result.elements.push_back(number(until(",}")));
        skip(',');
      }
    } else {
      const Number parsed = number(text);
      result.kind = parsed.is_real ? Kind::kDouble : Kind::kInt;
      result.integer = parsed.integer;
      result.real = parsed.real;
    }
  }

  void list(Argument& result) {
    result.kind = Kind::kInts;
    while (!skip(']')) {
      const std::string_view item = until(",]");
      if (item == "true" || item == "false") {
        result.kind = Kind::kBools;
        result.bools.push_back(item == "true");
      } else if (const Number parsed = number(item); parsed.is_real) {
        result.kind = Kind::kDoubles;
        result.doubles.push_back(parsed.real);
      } else {
        result.ints.push_back(parsed.integer);
      }
      skip(',');
    }
  }

  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool skip(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void take(char c) {
    if (skip(c)) return;
    ADD_FAILURE() << "expected " << c << " before: " << rest_;
    std::abort();
  }
  std::string_view until(std::string_view ends) {
    const size_t length = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return result;
  }

  std::string_view rest_;
};

inline std::string describe(const Argument& argument) {
  using Kind = Argument::Kind;
  std::string text = argument.name.empty() ? "" : argument.name + "=";
  if (argument.output) text += "!";
  const auto list = [&](const auto& items, const auto& print) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) text += ",";
      text += print(items[i]);
    }
  };
  const auto print = [](auto number) { return std::to_string(number); };
  switch (argument.kind) {
    case Kind::kNone:
      return text + "none";
    case Kind::kInt:
      return text + print(argument.integer);
    case Kind::kScalarType:
      return text + "@" + print(argument.integer);
    case Kind::kSame:
      return text + "argument" + print(argument.integer);
    case Kind::kBool:
      return text + (argument.integer != 0 ? "true" : "false");
    case Kind::kDouble:
      return text + print(argument.real);
    case Kind::kString:
      return text + "'" + argument.text.substr(0, 20) + "'";
    case Kind::kInts:
      text += "[";
      list(argument.ints, print);
      return text + "]";
    case Kind::kDoubles:
      text += "[";
      list(argument.doubles, print);
      return text + "]";
    case Kind::kBools:
      text += "[";
      list(argument.bools, [](bool value) { return value ? "true" : "false"; });
      return text + "]";
    case Kind::kTensors:
    case Kind::kOptionalTensors:
      text += argument.kind == Kind::kTensors ? "(" : "?(";
      list(argument.items, [](const Argument& item) { return describe(item); });
      return text + ")";
    case Kind::kTensor:
      break;
  }
  text += scalar_type_name(argument.dtype);
  text += "[";
  list(argument.sizes, print);
  text += "]";
  if (!argument.elements.empty()) {
    text += "{";
    list(argument.elements, [](const Number& number) {
      return number.is_real ? std::to_string(number.real) : std::to_string(number.integer);
    });
    text += "}";
  }
  if (!argument.dim_order.empty()) {
    text += " order ";
    list(argument.dim_order, print);
  }
  if (argument.pattern >= 0) text += " of bytes " + print(argument.pattern);
  if (argument.is_static) text += " static";
  if (argument.roomy) text += " roomy";
  if (argument.no_memory) text += " without memory";
  if (argument.read_only) text += " read-only";
  return text;
}

inline std::string describe_sharing(const Argument& argument) {
  if (argument.shares_memory_of < 0) return "";
  return " (item " + std::to_string(argument.shares_item) + " in the memory of argument" +
         std::to_string(argument.shares_memory_of) + ", item " +
         std::to_string(argument.shared_item) + ", from " + std::to_string(argument.shares_from) +
         ")";
}

struct OpCall {
  std::string_view name;
  std::vector<Argument> arguments;

  std::string text() const {
    std::string result(name);
    for (const Argument& argument : arguments) {
      result += " " + describe(argument) + describe_sharing(argument);
    }
    return result;
  }
};

inline std::vector<OpCall> all_op_calls() {
  std::vector<OpCall> calls;
#define OP(op, text) calls.push_back({op, ArgumentParser(text).arguments()});
#include "test/kernels/op_arguments.inc"
#undef OP
  return calls;
}

}  // namespace vitrine::test
