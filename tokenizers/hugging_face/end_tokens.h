// Finds the tokens that begin and end a text. A tokenizer.json does not name these tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {

struct EndTokens {
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
};

// Guesses the begin token from a name with "bos" or "begin", and the end token from a name with
// "eos" or "end". Prefers names that also contain "text", then the first match. Without a match,
// the tokens are <s> and </s>.
EndTokens guess_end_tokens(const std::vector<SpecialToken>& tokens);

// Reads "bos_token" and "eos_token" of a tokenizer_config.json. Throws FormatError, for example if
// the tokenizer lacks a named token.
EndTokens read_end_tokens(std::string_view config, const std::string& place,
                          const Tokenizer& tokenizer);

}  // namespace vitrine::hugging_face
