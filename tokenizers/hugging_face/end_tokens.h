// Finds the tokens that begin and end a text, which a tokenizer.json does not name.
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

// Returns the first tokens whose names contain "bos" or "begin", and "eos" or "end". Names that
// also contain "text" are preferred. Without such names, the tokens are <s> and </s>.
EndTokens guess_end_tokens(const std::vector<SpecialToken>& tokens);

// Reads "bos_token" and "eos_token" of a tokenizer_config.json. Throws FormatError, also if the
// tokenizer does not have the token.
EndTokens read_end_tokens(std::string_view config, const std::string& place,
                          const Tokenizer& tokenizer);

}  // namespace vitrine::hugging_face
