// Symbolic sizes: integer expressions over symbols whose ranges are known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::aot {

// The inclusive bounds of a symbol. An unset bound means that the symbol is unbounded on that side.
struct Range {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  friend bool operator==(const Range&, const Range&) = default;
};
using RangeConstraints = std::map<std::string, Range, std::less<>>;

// A node of an immutable expression tree. Functions have SymPy's names ("Add", "FloorDiv"). Any
// name is valid, but bounds() returns an unbounded range for unknown names.
class Expression {
 public:
  enum class Kind : uint8_t { kSymbol, kInteger, kReal, kFunction };
  using Pointer = std::shared_ptr<const Expression>;

  static Pointer symbol(std::string name);
  static Pointer integer(int64_t value);
  static Pointer real(double value);
  // Throws AotError if the tree would have more than kMaxTerms nodes. Repeated subtrees count each
  // time, because they are printed each time.
  static constexpr size_t kMaxTerms = 1024;
  static Pointer function(std::string name, std::vector<Pointer> arguments);

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }  // only for symbols and functions
  int64_t integer_value() const { return integer_; }
  double real_value() const { return real_; }
  const std::vector<Pointer>& arguments() const { return arguments_; }
  // Returns the text of the normal form (polynomial.h). Equal texts mean equal values.
  const std::string& normal_text() const;

 private:
  Expression() = default;
  Kind kind_ = Kind::kInteger;
  std::string name_;
  int64_t integer_ = 0;
  double real_ = 0;
  size_t terms_ = 1;  // number of nodes in the tree
  std::vector<Pointer> arguments_;
  mutable std::string normal_text_;  // empty until it is needed
};

// Prints an expression as "s0*s1 + -1" or "Max(s0, 2)".
std::string to_text(const Expression& expression);
// Computes bounds by interval arithmetic. Overflow and unknown functions yield unbounded ranges.
Range bounds(const Expression& expression, const RangeConstraints& symbols);

// An integer, or an expression with an integer value. Cheap to copy.
class SymInt {
 public:
  SymInt(int64_t value = 0) : value_(value) {}  // NOLINT: implicit, so that numbers are sizes
  explicit SymInt(Expression::Pointer expression) : expression_(std::move(expression)) {
    if (expression_->kind() == Expression::Kind::kInteger) {
      value_ = expression_->integer_value();
      expression_ = nullptr;
    }
  }

  bool is_static() const { return expression_ == nullptr; }
  int64_t value() const { return value_; }  // precondition: is_static()
  const Expression& expression() const { return *expression_; }
  const Expression::Pointer& pointer() const { return expression_; }
  Expression::Pointer as_expression() const {
    return is_static() ? Expression::integer(value_) : expression_;
  }

 private:
  int64_t value_ = 0;
  Expression::Pointer expression_;
};

// True if both sizes have the same normal form, such as 2*(s0 + 1) and (4*s0)//2 + 2. Sizes with
// different normal forms may still have equal values.
bool operator==(const SymInt& a, const SymInt& b);
inline bool same(const SymInt& a, const SymInt& b) { return a == b; }
inline bool same(const std::vector<SymInt>& a, const std::vector<SymInt>& b) { return a == b; }
std::string to_text(const SymInt& value);
// The following operators return simplified expressions.
SymInt operator*(const SymInt& a, const SymInt& b);
SymInt operator+(const SymInt& a, const SymInt& b);
SymInt operator-(const SymInt& a, const SymInt& b);
// Divides a by b and rounds down. Precondition: b > 0.
SymInt operator/(const SymInt& a, const SymInt& b);
// True if a >= b for all symbol values >= 1, and a > b for some of these values. Returns false if
// the order is unknown. If a or b is symbolic, assumes that b is positive.
bool exceeds(const SymInt& a, const SymInt& b);
// Returns an upper bound of the size's value, or an empty optional if the size is unbounded.
std::optional<int64_t> upper_bound(const SymInt& value, const RangeConstraints& symbols);

}  // namespace vitrine::aot
