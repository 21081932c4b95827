// Reads a tokenizer.json of Hugging Face's library `tokenizers`.
//
// Encoding finds added tokens in the text and normalizes the remaining text. Then encoding finds
// the "normalized" added tokens in this text and splits the rest into words for the model. Ignores
// "truncation" and "padding".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// `place` names the file in errors. `config` is the text of tokenizer_config.json, which names the
// begin and the end token. If `config` is empty, guess_end_tokens() finds these tokens. Throws
// FormatError or TokenizerError.
std::unique_ptr<Tokenizer> read_tokenizer_json(const JsonValue& root, const std::string& place,
                                               std::string_view config = {},
                                               const std::string& config_place = {});

}  // namespace vitrine
