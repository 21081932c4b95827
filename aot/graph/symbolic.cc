#include "aot/graph/symbolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "aot/graph/aot_error.h"
#include "aot/graph/polynomial.h"
#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

using Bound = std::optional<int64_t>;

Bound add(Bound a, Bound b) {
  int64_t sum = 0;
  if (!a || !b || add_overflows(*a, *b, &sum)) return {};
  return sum;
}

Bound product(Bound a, Bound b) {
  // Zero times an unbounded value is zero.
  if ((a && *a == 0) || (b && *b == 0)) return 0;
  int64_t value = 0;
  if (!a || !b || mul_overflows(*a, *b, &value)) return {};
  return value;
}

Range add_ranges(const Range& a, const Range& b) { return {add(a.min, b.min), add(a.max, b.max)}; }

Range multiply_ranges(const Range& a, const Range& b) {
  const bool not_negative = a.min && *a.min >= 0 && b.min && *b.min >= 0;
  if (not_negative) return {product(a.min, b.min), product(a.max, b.max)};
  const std::array corners = {product(a.min, b.min), product(a.min, b.max), product(a.max, b.min),
                              product(a.max, b.max)};
  if (!a.min || !a.max || !b.min || !b.max ||
      std::ranges::any_of(corners, [](const Bound& corner) { return !corner; })) {
    return {};
  }
  const auto [low, high] = std::ranges::minmax(corners);
  return {low, high};
}

Range divide_ranges(const Range& a, const Range& b) {
  if (!b.min || *b.min <= 0) return {};
  const auto divided = [&](Bound value, bool by_largest) -> Bound {
    if (!value) return {};
    if (by_largest && !b.max) return 0;
    return floor_divide(*value, by_largest ? *b.max : *b.min);
  };
  return {a.min ? divided(a.min, *a.min >= 0) : Bound(),
          a.max ? divided(a.max, *a.max < 0) : Bound()};
}

Range modulo_ranges(const Range&, const Range& b) {
  if (!b.min || *b.min <= 0) return {};
  return {0, add(b.max, -1)};
}

Range max_ranges(const Range& a, const Range& b) {
  Range range;
  if (a.min || b.min) range.min = std::max(a.min.value_or(INT64_MIN), b.min.value_or(INT64_MIN));
  if (a.max && b.max) range.max = std::max(*a.max, *b.max);
  return range;
}

Range min_ranges(const Range& a, const Range& b) {
  Range range;
  if (a.min && b.min) range.min = std::min(*a.min, *b.min);
  if (a.max || b.max) range.max = std::min(a.max.value_or(INT64_MAX), b.max.value_or(INT64_MAX));
  return range;
}

Range power_ranges(const Range& a, const Range& b) {
  constexpr int64_t kMaxSteps = 64;
  if (!a.min || *a.min < 0 || !b.min || b.min != b.max || *b.min < 0 || *b.min > kMaxSteps) {
    return {};
  }
  Range range{1, 1};
  for (int64_t i = 0; i < *b.min; ++i) range = multiply_ranges(range, a);
  return range;
}

struct Function {
  std::string_view name;
  Range (*ranges)(const Range&, const Range&);  // folded over the arguments from the left
  std::string_view infix;                       // empty for functions that print as a call
};

constexpr std::array kFunctions = {
    Function{"Add", add_ranges, " + "},
    Function{"Mul", multiply_ranges, "*"},
    Function{"FloorDiv", divide_ranges, "//"},
    Function{"CleanDiv", divide_ranges, "//"},
    Function{"Mod", modulo_ranges, "%"},
    Function{"PythonMod", modulo_ranges, "%"},
    Function{"Max", max_ranges, ""},
    Function{"Min", min_ranges, ""},
    Function{"Pow", power_ranges, "**"},
    Function{"PowByNatural", power_ranges, "**"},
    Function{"Equality", nullptr, " == "},
    Function{"Unequality", nullptr, " != "},
    Function{"LessThan", nullptr, " <= "},
    Function{"GreaterThan", nullptr, " >= "},
    Function{"StrictLessThan", nullptr, " < "},
    Function{"StrictGreaterThan", nullptr, " > "},
};

const Function* function_of(std::string_view name) {
  const auto found =
      std::ranges::find_if(kFunctions, [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : &*found;
}

bool needs_parentheses(const Expression& argument) {
  if (argument.kind() != Expression::Kind::kFunction) return false;
  const Function* function = function_of(argument.name());
  return function != nullptr && !function->infix.empty();
}

}  // namespace

Expression::Pointer Expression::symbol(std::string name) {
  Expression made;
  made.kind_ = Kind::kSymbol;
  made.name_ = std::move(name);
  return std::make_shared<const Expression>(std::move(made));
}

Expression::Pointer Expression::integer(int64_t value) {
  Expression made;
  made.integer_ = value;
  return std::make_shared<const Expression>(std::move(made));
}

Expression::Pointer Expression::real(double value) {
  Expression made;
  made.kind_ = Kind::kReal;
  made.real_ = value;
  return std::make_shared<const Expression>(std::move(made));
}

Expression::Pointer Expression::function(std::string name, std::vector<Pointer> arguments) {
  Expression made;
  made.kind_ = Kind::kFunction;
  for (const Pointer& argument : arguments) made.terms_ += argument->terms_;
  if (made.terms_ > kMaxTerms) {
    throw AotError(
        fmt::format("the expression of a size has more than the maximum of {} terms", kMaxTerms));
  }
  made.name_ = std::move(name);
  made.arguments_ = std::move(arguments);
  return std::make_shared<const Expression>(std::move(made));
}

const std::string& Expression::normal_text() const {
  if (kind_ == Kind::kSymbol) return name_;
  if (normal_text_.empty()) {
    // Polynomial::of() needs a shared pointer. This pointer does not own the expression.
    const SymInt value(Pointer(Pointer(), this));
    const auto normal = Polynomial::of(value);
    normal_text_ = normal ? to_text(normal->value()) : to_text(*this);
  }
  return normal_text_;
}

std::string to_text(const Expression& expression) {
  switch (expression.kind()) {
    case Expression::Kind::kSymbol:
      return expression.name();
    case Expression::Kind::kInteger:
      return fmt::format("{}", expression.integer_value());
    case Expression::Kind::kReal:
      return fmt::format("{}", expression.real_value());
    case Expression::Kind::kFunction:
      break;
  }
  const Function* function = function_of(expression.name());
  const bool is_infix = function != nullptr && !function->infix.empty();
  std::string text;
  for (const Expression::Pointer& argument : expression.arguments()) {
    if (!text.empty()) text += is_infix ? function->infix : ", ";
    const std::string part = to_text(*argument);
    text += is_infix && needs_parentheses(*argument) ? fmt::format("({})", part) : part;
  }
  return is_infix ? text : fmt::format("{}({})", expression.name(), text);
}

Range bounds(const Expression& expression, const RangeConstraints& symbols) {
  if (expression.kind() == Expression::Kind::kInteger) {
    return {expression.integer_value(), expression.integer_value()};
  }
  if (expression.kind() == Expression::Kind::kSymbol) {
    const auto found = symbols.find(expression.name());
    return found == symbols.end() ? Range{} : found->second;
  }
  if (expression.kind() == Expression::Kind::kReal || expression.arguments().empty()) return {};
  const Function* function = function_of(expression.name());
  if (function == nullptr || function->ranges == nullptr) return {};
  Range range = bounds(*expression.arguments().front(), symbols);
  for (size_t i = 1; i < expression.arguments().size(); ++i) {
    range = function->ranges(range, bounds(*expression.arguments()[i], symbols));
  }
  return range;
}

std::string to_text(const SymInt& value) {
  return value.is_static() ? fmt::format("{}", value.value()) : to_text(value.expression());
}

namespace {

SymInt simplified(std::string name, const SymInt& a, const SymInt& b) {
  const SymInt value(Expression::function(std::move(name), {a.as_expression(), b.as_expression()}));
  const auto normal = Polynomial::of(value, Polynomial::Form::kFactored);
  return normal ? normal->value() : value;
}

}  // namespace

SymInt operator*(const SymInt& a, const SymInt& b) {
  int64_t value = 0;
  if (a.is_static() && b.is_static() && !mul_overflows(a.value(), b.value(), &value)) return value;
  return simplified("Mul", a, b);
}

SymInt operator+(const SymInt& a, const SymInt& b) {
  int64_t value = 0;
  if (a.is_static() && b.is_static() && !add_overflows(a.value(), b.value(), &value)) return value;
  return simplified("Add", a, b);
}

SymInt operator-(const SymInt& a, const SymInt& b) { return a + SymInt(-1) * b; }

SymInt operator/(const SymInt& a, const SymInt& b) {
  if (a.is_static() && b.is_static() && a.value() >= 0 && b.value() > 0) {
    return a.value() / b.value();
  }
  return simplified("FloorDiv", a, b);
}

bool operator==(const SymInt& a, const SymInt& b) {
  if (a.is_static() && b.is_static()) return a.value() == b.value();
  const auto normal_text = [](const SymInt& size) {
    return size.is_static() ? to_text(size) : size.expression().normal_text();
  };
  return normal_text(a) == normal_text(b);
}

bool exceeds(const SymInt& a, const SymInt& b) try {
  if (a.is_static() && b.is_static()) return a.value() > b.value();
  const auto dividend = Polynomial::of(a);
  const auto divisor = Polynomial::of(b);
  if (!dividend || !divisor || divisor->is_zero()) return false;
  const auto [quotient, rest] = Polynomial::divide(*dividend, *divisor);
  if (quotient.is_zero() || quotient.has_negative_coefficient()) return false;
  if (rest.has_negative_coefficient()) return false;
  return !rest.is_zero() || quotient != Polynomial::of(1);
} catch (const Polynomial::TooComplex&) {
  return false;
}

std::optional<int64_t> upper_bound(const SymInt& value, const RangeConstraints& symbols) {
  if (value.is_static()) return value.value();
  return bounds(value.expression(), symbols).max;
}

}  // namespace vitrine::aot
