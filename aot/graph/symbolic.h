// Sizes known only within bounds: integer expressions over symbols.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::aot {

// Bounds of a symbol, inclusive; absent is unbounded.
struct Range {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  friend bool operator==(const Range&, const Range&) = default;
};
using RangeConstraints = std::map<std::string, Range, std::less<>>;

// A node of an immutable expression tree. Functions carry SymPy's names ("Add", "FloorDiv",
// "LessThan"); those that `bounds` does not know are legal and unbounded.
class Expression {
 public:
  enum class Kind : uint8_t { kSymbol, kInteger, kReal, kFunction };
  using Pointer = std::shared_ptr<const Expression>;

  static Pointer symbol(std::string name);
  static Pointer integer(int64_t value);
  static Pointer real(double value);
  // AotError if the tree would have more than kMaxTerms nodes. Parts are shared, so a few steps
  // could make a tree too large to print.
  static constexpr size_t kMaxTerms = 1024;
  static Pointer function(std::string name, std::vector<Pointer> arguments);

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }  // of symbols and functions
  int64_t integer_value() const { return integer_; }
  double real_value() const { return real_; }
  const std::vector<Pointer>& arguments() const { return arguments_; }

 private:
  Expression() = default;
  Kind kind_ = Kind::kInteger;
  std::string name_;
  int64_t integer_ = 0;
  double real_ = 0;
  size_t terms_ = 1;  // nodes of the tree
  std::vector<Pointer> arguments_;
};

bool equal(const Expression& a, const Expression& b);
// "s0*s1 - 1"; functions without an infix operator as "FloorDiv(s0, 2)".
std::string to_text(const Expression& expression);
// Interval arithmetic; overflows and unknown functions give unbounded ranges.
Range bounds(const Expression& expression, const RangeConstraints& symbols);

// An integer, or an expression of one. Cheap to copy.
class SymInt {
 public:
  SymInt(int64_t value = 0) : value_(value) {}  // NOLINT: a number is a size
  explicit SymInt(Expression::Pointer expression) : expression_(std::move(expression)) {
    if (expression_->kind() == Expression::Kind::kInteger) {
      value_ = expression_->integer_value();
      expression_ = nullptr;
    }
  }

  bool is_static() const { return expression_ == nullptr; }
  int64_t value() const { return value_; }  // only if static
  const Expression& expression() const { return *expression_; }
  const Expression::Pointer& pointer() const { return expression_; }
  Expression::Pointer as_expression() const {
    return is_static() ? Expression::integer(value_) : expression_;
  }

  friend bool operator==(const SymInt& a, const SymInt& b) {
    if (a.is_static() != b.is_static()) return false;
    return a.is_static() ? a.value_ == b.value_ : equal(*a.expression_, *b.expression_);
  }

 private:
  int64_t value_ = 0;
  Expression::Pointer expression_;
};

std::string to_text(const SymInt& value);
SymInt operator*(const SymInt& a, const SymInt& b);
SymInt operator+(const SymInt& a, const SymInt& b);
SymInt operator-(const SymInt& a, const SymInt& b);
// Rounds down; dividend >= 0, divisor > 0. Common factors cancel.
SymInt operator/(const SymInt& a, const SymInt& b);
// Whether both are equal, or products of the same factors.
bool same(const SymInt& a, const SymInt& b);
bool same(const std::vector<SymInt>& a, const std::vector<SymInt>& b);
// The least upper bound of the value; empty if unbounded.
std::optional<int64_t> upper_bound(const SymInt& value, const RangeConstraints& symbols);

}  // namespace vitrine::aot
