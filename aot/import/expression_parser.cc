#include "aot/import/expression_parser.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <utility>

#include "aot/import/import_error.h"
#include "runtime/core/parse_real.h"

namespace vitrine::aot {
namespace {

constexpr int kMaxDepth = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expression::Pointer parse() {
    Expression::Pointer parsed = expression(0);
    skip_spaces();
    if (at_ != text_.size()) fail("expected the end of the expression");
    return parsed;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ImportError(fmt::format("invalid expression at character {}: {}", at_, what));
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("expected '{}'", c));
  }
  std::string_view word() {
    skip_spaces();
    const size_t begin = at_;
    const auto is_word_character = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    if (at_ == begin) fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }
  std::string_view quoted() {
    skip_spaces();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      fail("expected quoted text");
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the closing quote is missing");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }
  template <class T>
  T number() {
    skip_spaces();
    T value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected a number of at most 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  // Skips the assumptions of a symbol: ", positive=True, integer=True".
  void skip_options() {
    while (take(',')) {
      word();
      expect('=');
      word();
    }
  }

  Expression::Pointer expression(int depth) {
    if (depth > kMaxDepth)
      fail(fmt::format("the expression nests deeper than {} levels", kMaxDepth));
    const std::string_view name = word();
    if (name == "true" || name == "false") return Expression::integer(name == "true" ? 1 : 0);
    expect('(');
    Expression::Pointer made;
    if (name == "Symbol") {
      made = Expression::symbol(std::string(quoted()));
      skip_options();
    } else if (name == "Integer") {
      made = Expression::integer(number<int64_t>());
    } else if (name == "Float") {
      double value = 0;
      if (!parse_real(quoted(), value)) fail("expected a number that fits in f64");
      made = Expression::real(value);
      skip_options();
    } else if (name == "Rational") {
      const auto numerator = number<int64_t>();
      expect(',');
      const auto denominator = number<int64_t>();
      if (denominator == 0) fail("the denominator is 0");
      made = Expression::real(static_cast<double>(numerator) / static_cast<double>(denominator));
    } else {
      std::vector<Expression::Pointer> arguments;
      if (!take(')')) {
        do {
          arguments.push_back(expression(depth + 1));
        } while (take(','));
        expect(')');
      }
      return Expression::function(std::string(name), std::move(arguments));
    }
    expect(')');
    return made;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Expression::Pointer parse_expression(std::string_view text) { return Parser(text).parse(); }

}  // namespace vitrine::aot
