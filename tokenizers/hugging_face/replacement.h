// A tokenizer.json's "pattern", and the "content" that takes its place.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// A string that is put into texts, of at most 256 bytes: what a step can make of a text is bounded.
const std::string& read_content(const JsonValue& json);
// A string that is one character.
const std::string& one_character(const JsonValue& json);

class Replacement {
 public:
  Replacement(const JsonValue& step, const std::string& place);
  std::string apply(std::string_view text) const;

 private:
  SeparatorFinder find_;
  std::string content_;
};

}  // namespace vitrine::hugging_face
