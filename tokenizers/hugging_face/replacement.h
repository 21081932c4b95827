// A "pattern" of a tokenizer.json, and the "content" that replaces its matches.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// Returns a string that steps insert into texts. Fails if it has more than 256 bytes.
const std::string& read_content(const JsonValue& json);
// Returns a string that must be one character.
const std::string& one_character(const JsonValue& json);

class Replacement {
 public:
  Replacement(const JsonValue& step, const std::string& place);
  // Checks the size of the result but does not record it.
  std::string apply(std::string_view text, TextBudget& budget) const;

 private:
  SeparatorFinder find_;
  std::string content_;
};

}  // namespace vitrine::hugging_face
