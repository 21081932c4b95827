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

// Returns the separators in a well-formed text: ranges from left to right without overlap. A
// regular expression can find empty ranges. An empty text does not have separators. Thread-safe.
using SeparatorFinder =
    std::function<std::vector<TextRange>(std::string_view text, TextBudget& budget)>;

SeparatorFinder characters_that(bool (*is_separator)(char32_t));
// Precondition: `literal` is not empty.
SeparatorFinder occurrences_of(std::string literal);
// Cuts the text into runs of `characters` characters (not 0). The last run may be shorter.
SeparatorFinder runs_of(size_t characters);
// Finds the matches of a regular expression of a tokenizer.json. `place` names the file and the
// step.
SeparatorFinder matches_of(const std::string& expression, const std::string& place);
// Reads a pattern: {"String": ...} or {"Regex": ...}.
SeparatorFinder read_pattern(const JsonValue& json, const std::string& place);

}  // namespace vitrine::hugging_face
