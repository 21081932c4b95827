// The "pre_tokenizer" of a tokenizer.json splits text into words. The model encodes each word
// separately.
#pragma once

#include <functional>

#include "base/json.h"
#include "tokenizers/hugging_face/text_piece.h"

namespace vitrine::hugging_face {

// Splits pieces of text into words. Thread-safe.
using PreTokenizer = std::function<void(TextPieces&, TextBudget&)>;

// Reads the "pre_tokenizer". `place` names the file in errors. Throws FormatError or
// TokenizerError.
PreTokenizer read_pre_tokenizer(const JsonValue& json, const std::string& place);

}  // namespace vitrine::hugging_face
