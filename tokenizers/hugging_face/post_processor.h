// The "post_processor" of a tokenizer.json puts tokens around a text.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {

struct TextFrame {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};

// Ignores the tokens for pairs of texts. Throws FormatError.
TextFrame read_post_processor(const JsonValue& json);

}  // namespace vitrine::hugging_face
