// The "post_processor" of a tokenizer.json: the tokens around a text.
#pragma once

#include <string>
#include <vector>

#include "devtools/containers/json.h"
#include "tokenizers/tokenizer.h"

namespace vitrine::hugging_face {

struct TextFrame {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};

// Of one text, not of pairs. Throws FormatError.
TextFrame read_post_processor(const JsonValue& json);

}  // namespace vitrine::hugging_face
