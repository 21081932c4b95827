// Finds the matches of regular expressions in UTF-8 text. Uses Oniguruma and limits the cost of a
// search.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tokenizers/text_budget.h"

namespace vitrine {

enum class PatternSyntax {
  // Syntax of a tokenizer.json: Oniguruma's default syntax
  // (https://github.com/kkos/oniguruma/blob/master/doc/RE). `^` and `$` match at the beginning and
  // end of lines.
  kHuggingFace,
  // Syntax of tiktoken and Tekken files: `{1,3}+` is possessive, `^` and `$` match at the beginning
  // and end of the text, and `(?s)` makes the dot match a newline.
  kTiktoken,
};

// Immutable and thread-safe.
class Pattern {
 public:
  // Compiles an expression. Throws TokenizerError naming `place` if the expression is malformed or
  // pattern_check.h refuses the expression.
  Pattern(std::string_view expression, PatternSyntax syntax, const std::string& place);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Visits the matches in well-formed text from left to right, as byte ranges without overlap.
  // Skips an empty match directly after another match. Throws TokenizerError if the search exceeds
  // the budget.
  void each_match(std::string_view text, TextBudget& budget,
                  const std::function<void(size_t begin, size_t end)>& visit) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace vitrine
