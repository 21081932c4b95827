// Reads a tokenizer.json as Hugging Face's library `tokenizers` writes it.
//
// Encoding runs the same steps as the library. It finds added tokens in the text and normalizes the
// text between them. Then it searches the normalized text for the added tokens that are
// "normalized", and splits the rest into words, which the model encodes. "truncation" and "padding"
// are left to the caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// `place` names the file in errors. `config` is the text of the tokenizer_config.json file, which
// names the begin and the end token. If `config` is empty, these tokens are guessed from the names
// of special tokens (end_tokens.h). Throws FormatError or TokenizerError.
std::unique_ptr<Tokenizer> read_tokenizer_json(const JsonValue& root, const std::string& place,
                                               std::string_view config = {},
                                               const std::string& config_place = {});

}  // namespace vitrine
