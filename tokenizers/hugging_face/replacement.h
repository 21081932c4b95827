// Replaces the matches of a "pattern" of a tokenizer.json with its "content".
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// Reads a string that a tokenizer inserts into texts. Throws if the string has more than 256 bytes.
const std::string& read_content(const JsonValue& json);
// Throws if the string is not a single character.
const std::string& one_character(const JsonValue& json);

class Replacement {
 public:
  Replacement(const JsonValue& step, const std::string& place);
  // Checks the size of the result. The caller must charge the budget for the result.
  std::string apply(std::string_view text, TextBudget& budget) const;

 private:
  SeparatorFinder find_;
  std::string content_;
};

}  // namespace vitrine::hugging_face
