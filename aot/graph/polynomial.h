// Normal forms of symbolic sizes. symbolic.h uses them to compare and simplify sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aot/graph/symbolic.h"

namespace vitrine::aot {

// Divides like Python's operator //, which rounds down. Precondition: b > 0.
constexpr int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// A factor that is not a sum or product: a symbol, or a call such as FloorDiv(s0, 2) with arguments
// in normal form. Equal atoms have equal texts.
struct Atom {
  std::string text;
  Expression::Pointer expression;
  friend auto operator<=>(const Atom& a, const Atom& b) { return a.text <=> b.text; }
  friend bool operator==(const Atom& a, const Atom& b) { return a.text == b.text; }
};

// A product of atoms, sorted.
using Monomial = std::vector<Atom>;

// A sum of monomials with nonzero integer coefficients. The arithmetic assumes that all symbols are
// integers and that no divisor is zero.
class Polynomial {
 public:
  static constexpr size_t kMaxTerms = 64;
  // Thrown if coefficients overflow, or if there are more than kMaxTerms terms.
  struct TooComplex {};
  enum class Form : uint8_t {
    kExpanded,  // products of sums are multiplied out, so that equal values have equal forms
    kFactored,  // products of sums are atoms, because interval arithmetic bounds them more tightly
  };

  // Converts a size to a polynomial. Returns an empty optional if the size is too complex.
  static std::optional<Polynomial> of(const SymInt& value, Form form = Form::kExpanded);

  SymInt value() const;
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

  // Returns q and r with a = q * b + r. If the leading coefficient of b is negative, q is 0.
  // Otherwise, no term of r is a multiple of the leading term of b. Throws TooComplex.
  // Precondition: b is not zero.
  static std::pair<Polynomial, Polynomial> divide(Polynomial a, const Polynomial& b);
  bool is_zero() const { return terms_.empty(); }
  bool has_negative_coefficient() const;

 private:
  friend class Normalization;
  // Orders monomials by decreasing degree, and then by text. Multiplying two monomials by the same
  // factor does not change their order. divide() relies on this property.
  struct Order {
    bool operator()(const Monomial& a, const Monomial& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };

  Polynomial() = default;
  explicit Polynomial(int64_t constant) { add({}, constant); }
  void add(const Monomial& monomial, int64_t coefficient);
  void add(const Polynomial& other);
  Polynomial times(const Monomial& monomial, int64_t coefficient) const;
  Polynomial times(const Polynomial& other) const;
  // Returns the value of a polynomial without atoms, or an empty optional if it has atoms.
  std::optional<int64_t> constant() const;

  std::map<Monomial, int64_t, Order> terms_;
};

}  // namespace vitrine::aot
