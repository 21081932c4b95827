// Finds the "added_tokens" of a tokenizer.json in a text before the model encodes the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "tokenizers/byte_trie.h"
#include "tokenizers/hugging_face/normalizer.h"
#include "tokenizers/hugging_face/text_piece.h"
#include "tokenizers/token_table.h"

namespace vitrine::hugging_face {

struct AddedToken {
  std::string text;
  // The result of normalizing `text`, if `normalized` is true and the result differs. The result
  // replaces `text` in encoding and decoding.
  std::optional<std::string> normalized_text;
  TokenId id;
  bool single_word = false;  // the token is not found inside of a word
  bool takes_left = false;   // includes the white space before the token
  bool takes_right = false;  // includes the white space after the token
  bool normalized = false;   // searched for in normalized text
  bool special = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Reads the added tokens. `place` names the file in errors.
  AddedTokens(const JsonValue& json, const TokenTable& vocabulary, const Normalizer& normalizer,
              const std::string& place);

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  const AddedToken* find(TokenId id) const;
  const AddedToken* find(std::string_view text) const;

  // Splits pieces at the added tokens whose AddedToken::normalized equals `normalized`. If
  // `special_in_text` is false, names of special tokens are ordinary text.
  void split(TextPieces& pieces, bool normalized, bool special_in_text, TextBudget& budget) const;

 private:
  void split_piece(const TextPiece& piece, const ByteTrie& trie, bool special_in_text,
                   TextBudget& budget, TextPieces& out) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<TokenId, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_text_;
  ByteTrie plain_;       // values are indices of tokens_
  ByteTrie normalized_;  // values are indices of tokens_
};

}  // namespace vitrine::hugging_face
