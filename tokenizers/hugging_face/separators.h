// Finds the places at which pieces of text are split.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tokenizers/text_budget.h"

namespace vitrine::hugging_face {

struct TextRange {
  size_t begin;
  size_t end;
};

// A function that returns the separators in a well-formed text: ranges from left to right that do
// not overlap. The ranges that a regular expression finds may be empty. An empty text has no
// separators. Thread-safe.
using SeparatorFinder =
    std::function<std::vector<TextRange>(std::string_view text, TextBudget& budget)>;

// Finds the characters for which `is_separator` returns true.
SeparatorFinder characters_that(bool (*is_separator)(char32_t));
// Finds the occurrences of a literal, which must not be empty.
SeparatorFinder occurrences_of(std::string literal);
// Cuts the text into runs of this many characters. `characters` must not be 0. The last run may be
// shorter.
SeparatorFinder runs_of(size_t characters);
// Finds the matches of a regular expression in the syntax of a tokenizer.json. `place` names the
// file and the step.
SeparatorFinder matches_of(const std::string& expression, const std::string& place);
// Reads a pattern: {"String": ...} or {"Regex": ...}.
SeparatorFinder read_pattern(const JsonValue& json, const std::string& place);

}  // namespace vitrine::hugging_face
