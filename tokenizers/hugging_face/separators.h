// Where pieces of text are split.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace vitrine::hugging_face {

struct TextRange {
  size_t begin;
  size_t end;
};

// Finds the separators in a well-formed text: ranges from left to right that do not overlap. Those
// of a regular expression may be empty, and none of an empty text. Thread-safe.
using SeparatorFinder = std::function<std::vector<TextRange>(std::string_view text)>;

// Single characters.
SeparatorFinder characters_that(bool (*is_separator)(char32_t));
SeparatorFinder occurrences_of(std::string literal);  // not empty
SeparatorFinder runs_of(size_t characters);           // not 0; the last run may be shorter
// Matches of a regular expression in Oniguruma's syntax. `place` names the file and the step, here
// and below.
SeparatorFinder matches_of(const std::string& expression, const std::string& place);
// {"String": ...} or {"Regex": ...}.
SeparatorFinder read_pattern(const JsonValue& json, const std::string& place);

}  // namespace vitrine::hugging_face
