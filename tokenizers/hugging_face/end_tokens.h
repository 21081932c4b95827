// Which tokens begin and end a text: a tokenizer.json does not say.
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

// The first token whose name has "bos" or "begin", "eos" or "end" in it; those with "text" come
// first. Else <s> and </s>.
EndTokens guess_end_tokens(const std::vector<SpecialToken>& tokens);

// "bos_token" and "eos_token" of a tokenizer_config.json. Throws FormatError, also if the tokenizer
// has no such token.
EndTokens read_end_tokens(std::string_view config, const std::string& place,
                          const Tokenizer& tokenizer);

}  // namespace vitrine::hugging_face
