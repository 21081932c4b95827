// Implements byte-pair encoding with ranks instead of a list of merges, as in tiktoken. Two
// neighboring tokens can be merged if the vocabulary contains the joined token. Each step makes the
// merge whose joined token has the lowest rank.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// The content of a vocabulary file. The id of a token is its rank plus `first_id`.
struct RankedBytes {
  struct Token {
    std::string bytes;
    int64_t rank;
  };

  std::string form;
  std::vector<Token> tokens;
  int64_t first_id = 0;
  std::string pattern;  // regular expression whose matches are the words
  std::vector<SpecialToken> special_tokens;
  std::string bos;  // name of the special token; empty if there is none
  std::string eos;  // name of the special token; empty if there is none
};

// Makes a tokenizer from the content of a file. Throws TokenizerError naming `place`.
std::unique_ptr<Tokenizer> make_ranked_bytes_tokenizer(RankedBytes description,
                                                       const std::string& place);

// Reads tiktoken's file: each line has a token in base64 and its rank. The file names neither the
// pattern nor the special tokens, so those of Llama 3 are used. The 256 special tokens get the ids
// after the highest rank.
std::unique_ptr<Tokenizer> read_tiktoken(std::string_view text, const std::string& place);
// Reads Mistral's tekken.json, which names the pattern and the special tokens. Special tokens have
// the first ids.
std::unique_ptr<Tokenizer> read_tekken(const JsonValue& root, const std::string& place);

}  // namespace vitrine
