// Hugging Face's tokenizer.json, as its `tokenizers` library writes it.
//
// Done in this order, as there: added tokens are found in the text; what is between them is
// normalized, searched for the added tokens that are "normalized", and split into words; the model
// makes ids of words. "truncation" and "padding" are left to the caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// `place` names the file. `config` is the text of the tokenizer_config.json that belongs to it, or
// empty: it names the begin and the end token. Else they are those whose names say so. Throws
// FormatError or TokenizerError.
std::unique_ptr<Tokenizer> read_tokenizer_json(const JsonValue& root, const std::string& place,
                                               std::string_view config = {},
                                               const std::string& config_place = {});

}  // namespace vitrine
