// Reads the text of a regular expression.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include "tokenizers/hugging_face/oniguruma_sets.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {

// Errors are TokenizerErrors that name `place` and the byte.
class PatternReader {
 public:
  // Both outlive the reader.
  PatternReader(std::string_view from, const std::string& place) : from_(from), place_(place) {}

  size_t size() const { return from_.size(); }
  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  bool at_end() const { return at_ == from_.size(); }

  // What refuse_token() names begins here.
  void begin_token() { token_ = at_; }
  void back_to_token() { at_ = token_; }
  std::string_view token() const { return from_.substr(token_, at_ - token_); }

  // From here.
  std::string_view rest() const { return from_.substr(at_); }
  bool sees(std::string_view text) const { return rest().starts_with(text); }
  bool take(std::string_view text) {
    if (!sees(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t take_character() {
    if (at_end()) refuse("it ends too early");
    const Character character = character_at(from_, at_);
    at_ += character.size;
    return character.value;
  }
  template <class Predicate>
  std::string_view take_while(Predicate holds) {
    const std::string_view here = rest();
    const auto* end = std::ranges::find_if_not(
        here, [&](char c) { return holds(static_cast<unsigned char>(c)); });
    at_ += static_cast<size_t>(end - here.begin());
    return {here.begin(), end};
  }
  // A decimal number of any length; those that are too large are INT_MAX.
  std::optional<int> take_number() {
    const std::string_view digits = take_while(is_digit);
    if (digits.empty()) return std::nullopt;
    int value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return result.ec == std::errc() ? value : std::numeric_limits<int>::max();
  }
  // At most that many digits; nullopt without a digit.
  std::optional<char32_t> take_digits(int base, size_t most) {
    const std::string_view here = rest().substr(0, most);
    uint32_t number = 0;
    const char* const stop =
        std::from_chars(here.data(), here.data() + here.size(), number, base).ptr;
    at_ += static_cast<size_t>(stop - here.data());
    if (stop == here.data()) return std::nullopt;
    return number;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    throw TokenizerError(
        fmt::format("{}: the pattern is not supported: {}, before its byte {}", place_, what, at_));
  }
  [[noreturn]] void refuse_token() const { refuse(fmt::format("\"{}\"", token())); }

 private:
  std::string_view from_;
  const std::string& place_;
  size_t at_ = 0;
  size_t token_ = 0;
};

}  // namespace vitrine::hugging_face
