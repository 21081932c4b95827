// Implements tiktoken's byte-pair encoding, which has ranks instead of merges. Repeatedly merges
// the two neighbors whose joined token has the lowest rank in the vocabulary.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// The content of a vocabulary file. A token's id is its rank plus `first_id`.
struct RankedBytes {
  struct Token {
    std::string bytes;
    int64_t rank;
  };

  std::string form;
  std::vector<Token> tokens;
  int64_t first_id = 0;
  std::string pattern;  // regular expression for words
  std::vector<SpecialToken> special_tokens;
  std::string bos;  // name of the special token; empty if there is none
  std::string eos;  // name of the special token; empty if there is none
};

// Makes a tokenizer. Throws TokenizerError naming `place`.
std::unique_ptr<Tokenizer> make_ranked_bytes_tokenizer(RankedBytes description,
                                                       const std::string& place);

// Reads tiktoken's file. Each line has a token in base64 and its rank. The pattern and the names of
// the 256 special tokens are Llama 3's. The ids of special tokens follow the highest rank.
std::unique_ptr<Tokenizer> read_tiktoken(std::string_view text, const std::string& place);
// Reads Mistral's tekken.json. It contains the pattern and the special tokens, which have the first
// ids.
std::unique_ptr<Tokenizer> read_tekken(const JsonValue& root, const std::string& place);

}  // namespace vitrine
