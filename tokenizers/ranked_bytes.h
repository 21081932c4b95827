// Byte-pair encoding over bytes with ranks instead of merges, as tiktoken does it: of all
// neighbours that together are a token, those of the lowest rank are merged first.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// The content of a vocabulary file. An id is `first_id` plus a rank.
struct RankedBytes {
  struct Token {
    std::string bytes;
    int64_t rank;
  };

  std::string form;
  std::vector<Token> tokens;
  int64_t first_id = 0;
  std::string pattern;  // what words are
  std::vector<SpecialToken> special_tokens;
  std::string bos;  // names of special tokens; empty: none
  std::string eos;
};

// Throws TokenizerError naming `place`.
std::unique_ptr<Tokenizer> make_ranked_bytes_tokenizer(RankedBytes description,
                                                       const std::string& place);

// tiktoken's file: lines of a token in base64 and its rank. It names neither the pattern nor the
// special tokens: they are Llama 3's, 256 after the last rank.
std::unique_ptr<Tokenizer> read_tiktoken(std::string_view text, const std::string& place);
// Mistral's tekken.json, which names them. Special tokens come first.
std::unique_ptr<Tokenizer> read_tekken(const JsonValue& root, const std::string& place);

}  // namespace vitrine
