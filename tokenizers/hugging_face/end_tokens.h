// Finds the tokens that begin and end a text. A tokenizer.json does not name them.
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

// Guesses the begin and end tokens. The begin token is the first token whose name contains "bos" or
// "begin", and the end token is the first one whose name contains "eos" or "end". Prefers names
// that also contain "text". If no name matches, returns <s> and </s>.
EndTokens guess_end_tokens(const std::vector<SpecialToken>& tokens);

// Reads "bos_token" and "eos_token" of a tokenizer_config.json. Throws FormatError, for example if
// the tokenizer lacks a named token.
EndTokens read_end_tokens(std::string_view config, const std::string& place,
                          const Tokenizer& tokenizer);

}  // namespace vitrine::hugging_face
