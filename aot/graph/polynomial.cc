#include "aot/graph/polynomial.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "aot/graph/aot_error.h"
#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

int64_t checked_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (mul_overflows(a, b, &product)) throw Polynomial::TooComplex{};
  return product;
}

bool is_call(const Expression& expression, std::string_view name) {
  return expression.kind() == Expression::Kind::kFunction && expression.name() == name;
}

bool is_floor_division(const Expression& expression) {
  return (is_call(expression, "FloorDiv") || is_call(expression, "CleanDiv")) &&
         expression.arguments().size() == 2;
}

Expression::Pointer product_of(int64_t coefficient, const Monomial& monomial) {
  std::vector<Expression::Pointer> factors;
  if (coefficient != 1 || monomial.empty()) factors.push_back(Expression::integer(coefficient));
  for (const Atom& atom : monomial) factors.push_back(atom.expression);
  return factors.size() == 1 ? factors.front() : Expression::function("Mul", std::move(factors));
}

// Divides monomial `a` by monomial `b`. Returns an empty optional if `a` lacks a factor of `b`.
std::optional<Monomial> without(const Monomial& a, const Monomial& b) {
  if (!std::ranges::includes(a, b)) return std::nullopt;
  Monomial rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest;
}

}  // namespace

void Polynomial::add(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return;
  const auto [term, is_new] = terms_.try_emplace(monomial, 0);
  if (add_overflows(term->second, coefficient, &term->second) || terms_.size() > kMaxTerms) {
    throw TooComplex{};
  }
  if (term->second == 0) terms_.erase(term);
}

void Polynomial::add(const Polynomial& other) {
  for (const auto& [monomial, coefficient] : other.terms_) add(monomial, coefficient);
}

Polynomial Polynomial::times(const Monomial& monomial, int64_t coefficient) const {
  Polynomial product;
  for (const auto& [factors, number] : terms_) {
    Monomial all;
    std::ranges::merge(factors, monomial, std::back_inserter(all));
    product.add(all, checked_product(number, coefficient));
  }
  return product;
}

Polynomial Polynomial::times(const Polynomial& other) const {
  Polynomial product;
  for (const auto& [monomial, coefficient] : other.terms_) {
    product.add(times(monomial, coefficient));
  }
  return product;
}

std::optional<int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return terms_.begin()->second;
}

bool Polynomial::has_negative_coefficient() const {
  return std::ranges::any_of(terms_, [](const auto& term) { return term.second < 0; });
}

SymInt Polynomial::value() const {
  if (const std::optional<int64_t> number = constant()) return *number;
  std::vector<Expression::Pointer> terms;
  for (const auto& [monomial, coefficient] : terms_) {
    terms.push_back(product_of(coefficient, monomial));
  }
  return SymInt(terms.size() == 1 ? terms.front() : Expression::function("Add", std::move(terms)));
}

std::pair<Polynomial, Polynomial> Polynomial::divide(Polynomial a, const Polynomial& b) {
  Polynomial quotient, rest;
  const auto& [leading, divisor] = *b.terms_.begin();
  for (size_t steps = 0; !a.terms_.empty(); ++steps) {
    if (steps > kMaxTerms * kMaxTerms) throw TooComplex{};
    const auto [monomial, coefficient] = *a.terms_.begin();
    const std::optional<Monomial> factor = without(monomial, leading);
    // Divides only by positive coefficients. This suffices, because divisors are sizes.
    const int64_t times = factor && divisor > 0 ? floor_divide(coefficient, divisor) : 0;
    if (times == 0) {
      rest.add(monomial, coefficient);
      a.terms_.erase(a.terms_.begin());
      continue;
    }
    quotient.add(*factor, times);
    a.add(b.times(*factor, checked_product(times, -1)));
    // The coefficient is now less than `divisor`, so this term belongs to the remainder.
    if (const auto left = a.terms_.find(monomial); left != a.terms_.end()) {
      rest.add(monomial, left->second);
      a.terms_.erase(left);
    }
  }
  return {std::move(quotient), std::move(rest)};
}

class Normalization {
 public:
  explicit Normalization(bool expands) : expands_(expands) {}

  Polynomial of(const Expression::Pointer& expression) const {
    switch (expression->kind()) {
      case Expression::Kind::kInteger:
        return Polynomial(expression->integer_value());
      case Expression::Kind::kFunction:
        return of_call(*expression);
      default:
        return atom(expression);
    }
  }

 private:
  static Polynomial atom(Expression::Pointer expression) {
    Polynomial single;
    std::string text = to_text(*expression);
    single.add({Atom{std::move(text), std::move(expression)}}, 1);
    return single;
  }
  static Polynomial call(std::string_view name, std::span<const Polynomial> arguments) {
    std::vector<Expression::Pointer> items;
    for (const Polynomial& each : arguments) items.push_back(each.value().as_expression());
    return atom(Expression::function(std::string(name), std::move(items)));
  }
  static const Expression* single_atom(const Polynomial& polynomial) {
    if (polynomial.terms_.size() != 1) return nullptr;
    const auto& [monomial, coefficient] = *polynomial.terms_.begin();
    return coefficient == 1 && monomial.size() == 1 ? monomial.front().expression.get() : nullptr;
  }

  Polynomial of_call(const Expression& expression) const {
    const std::string& name = expression.name();
    std::vector<Polynomial> arguments;
    for (const Expression::Pointer& argument : expression.arguments()) {
      arguments.push_back(of(argument));
    }
    if (arguments.empty()) return call(name, arguments);
    if (name == "Add") return sum(arguments);
    if (name == "Mul") return product(arguments);
    if (name == "Max" || name == "Min") return extremum(name, std::move(arguments));
    if (arguments.size() != 2) return call(name, arguments);
    if (is_floor_division(expression)) return quotient(arguments[0], arguments[1]);
    if (name == "Mod" || name == "PythonMod") return remainder(arguments[0], arguments[1]);
    if (name == "Pow" || name == "PowByNatural") return power(name, arguments);
    return call(name, arguments);
  }

  static Polynomial sum(const std::vector<Polynomial>& terms) {
    Polynomial sum;
    for (const Polynomial& term : terms) sum.add(term);
    return sum;
  }

  Polynomial product(const std::vector<Polynomial>& factors) const {
    Polynomial product(1);
    std::vector<Polynomial> sums;
    for (const Polynomial& factor : factors) {
      if (expands_ || factor.terms_.size() < 2) {
        product = product.times(factor);
      } else {
        sums.push_back(factor);
      }
    }
    if (sums.size() == 1 && product.constant()) return product.times(sums.front());
    for (const Polynomial& each : sums) product = product.times(atom(each.value().as_expression()));
    return product;
  }

  static Polynomial power(const std::string& name, const std::vector<Polynomial>& arguments) {
    constexpr int64_t kMaxExponent = 8;
    const std::optional<int64_t> exponent = arguments[1].constant();
    if (!exponent || *exponent < 0 || *exponent > kMaxExponent) return call(name, arguments);
    Polynomial power(1);
    for (int64_t i = 0; i < *exponent; ++i) power = power.times(arguments[0]);
    return power;
  }

  // Returns the minimum or maximum of the arguments. Flattens nested calls. If two arguments differ
  // by a constant, keeps only the smaller one for Min and the larger one for Max.
  Polynomial extremum(const std::string& name, std::vector<Polynomial> arguments) const {
    std::vector<Polynomial> kept;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments.size() > Polynomial::kMaxTerms) throw Polynomial::TooComplex{};
      const Expression* nested = single_atom(arguments[i]);
      if (nested != nullptr && is_call(*nested, name)) {
        for (const Expression::Pointer& each : nested->arguments()) arguments.push_back(of(each));
        continue;
      }
      bool is_dropped = false;
      for (Polynomial& other : kept) {
        Polynomial difference = arguments[i];
        difference.add(other.times({}, -1));
        const std::optional<int64_t> constant = difference.constant();
        if (!constant) continue;
        is_dropped = true;
        if (name == "Max" ? *constant > 0 : *constant < 0) other = arguments[i];
      }
      if (!is_dropped) kept.push_back(arguments[i]);
    }
    if (kept.size() == 1) return kept.front();
    std::ranges::sort(kept, {}, [](const Polynomial& each) { return to_text(each.value()); });
    return call(name, kept);
  }

  static Polynomial remainder(const Polynomial& a, const Polynomial& b) {
    if (b.is_zero()) return call("Mod", std::vector{a, b});
    Polynomial rest = Polynomial::divide(a, b).second;
    const std::optional<int64_t> divisor = b.constant();
    const bool is_number = divisor && *divisor > 0;
    if (rest.is_zero() || (is_number && rest.constant())) return rest;
    return call("Mod", std::vector{is_number ? rest : a, b});
  }

  // Computes Python's floor division a // b.
  Polynomial quotient(Polynomial a, Polynomial b) const {
    if (b.is_zero()) return call("FloorDiv", std::vector{a, b});
    auto [whole, rest] = Polynomial::divide(a, b);
    if (rest.is_zero()) return whole;
    if (!expands_) {
      const Normalization expanding(true);
      const auto [quotient, remainder] = Polynomial::divide(
          expanding.of(a.value().as_expression()), expanding.of(b.value().as_expression()));
      if (remainder.is_zero()) return quotient;
    }
    // A sum can be divided term by term only if the divisor is a constant or a single term.
    if (b.terms_.size() == 1) {
      a = std::move(rest);
    } else {
      whole = Polynomial();
    }
    cancel(a, b);
    const std::optional<int64_t> divisor = b.constant();
    if (!divisor || *divisor <= 0) {
      whole.add(call("FloorDiv", std::vector{a, b}));
      return whole;
    }
    if (*divisor == 1) {
      whole.add(a);
      return whole;
    }
    if (const std::optional<int64_t> number = a.constant()) {
      whole.add({}, floor_divide(*number, *divisor));
      return whole;
    }
    whole.add(divided(a, *divisor));
    return whole;
  }

  // Merges nested divisions: (x // d + k) // n becomes (x + k * d) // (n * d).
  Polynomial divided(const Polynomial& a, int64_t divisor) const {
    Polynomial inner = a;
    const auto last = std::prev(inner.terms_.end());
    const int64_t constant = last->first.empty() ? last->second : 0;
    if (last->first.empty()) inner.terms_.erase(last);
    const Expression* nested = single_atom(inner);
    if (nested != nullptr && is_floor_division(*nested)) {
      const std::optional<int64_t> by = of(nested->arguments()[1]).constant();
      if (by && *by > 0) {
        Polynomial dividend = of(nested->arguments()[0]);
        dividend.add({}, checked_product(constant, *by));
        return quotient(std::move(dividend), Polynomial(checked_product(divisor, *by)));
      }
    }
    return call("FloorDiv", std::vector{a, Polynomial(divisor)});
  }

  // Cancels the factors that all terms of `a` and `b` share. If `b` is a number, rounds the
  // constant term of `a` down: (6*x + 5) // 9 becomes (2*x + 1) // 3.
  static void cancel(Polynomial& a, Polynomial& b) {
    Monomial common = b.terms_.begin()->first;
    int64_t divisor = 0;
    const bool by_number = b.constant().has_value();
    const auto visit = [&](const auto& terms, bool skips_constant) {
      for (const auto& [monomial, coefficient] : terms) {
        if (skips_constant && monomial.empty()) continue;
        if (coefficient == INT64_MIN) throw Polynomial::TooComplex{};
        divisor = std::gcd(divisor, coefficient);
        Monomial both;
        std::ranges::set_intersection(common, monomial, std::back_inserter(both));
        common = std::move(both);
      }
    };
    visit(a.terms_, by_number);
    visit(b.terms_, false);
    if (divisor <= 1 && common.empty()) return;
    for (Polynomial* each : {&a, &b}) {
      Polynomial reduced;
      for (const auto& [monomial, coefficient] : each->terms_) {
        reduced.add(*without(monomial, common), floor_divide(coefficient, divisor));
      }
      *each = std::move(reduced);
    }
  }

  bool expands_;
};

std::optional<Polynomial> Polynomial::of(const SymInt& value, Form form) try {
  return Normalization(form == Form::kExpanded).of(value.as_expression());
} catch (const TooComplex&) {
  return std::nullopt;
} catch (const AotError&) {  // an expression has too many terms
  return std::nullopt;
}

}  // namespace vitrine::aot
