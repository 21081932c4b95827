// Hugging Face's tokenizer.json, as its `tokenizers` library writes it.
//
// Encoding has the same order as in the library: added tokens are found in the text; the text
// between them is normalized, searched for the added tokens that are "normalized", and split into
// words; the model encodes the words. "truncation" and "padding" are left to the caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// `place` names the file. `config` is the text of its tokenizer_config.json, which names the begin
// and the end token. If it is empty, they are guessed from the names of special tokens
// (end_tokens.h). Throws FormatError or TokenizerError.
std::unique_ptr<Tokenizer> read_tokenizer_json(const JsonValue& root, const std::string& place,
                                               std::string_view config = {},
                                               const std::string& config_place = {});

}  // namespace vitrine
