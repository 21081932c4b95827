// The "added_tokens" of a tokenizer.json: tokens that are found in text before the model sees it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "tokenizers/hugging_face/normalizer.h"
#include "tokenizers/hugging_face/text_piece.h"
#include "tokenizers/prefix_index.h"
#include "tokenizers/token_table.h"

namespace vitrine::hugging_face {

struct AddedToken {
  std::string text;
  std::optional<std::string> normalized_text;  // where it differs: looked for, and for decoders
  TokenId id;
  bool single_word = false;  // only where no word goes on around it
  bool takes_left = false;   // with the white space before it
  bool takes_right = false;
  bool normalized = false;  // looked for in normalized text
  bool special = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // `place` names the file.
  AddedTokens(const JsonValue& json, const TokenTable& vocabulary, const Normalizer& normalizer,
              const std::string& place);

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  const AddedToken* find(TokenId id) const;
  const AddedToken* find(std::string_view text) const;

  // Splits pieces at the tokens that are looked for in text as it is, or in normalized text.
  // Without `special_in_text` names of special tokens are text.
  void split(TextPieces& pieces, bool normalized, bool special_in_text) const;

 private:
  void split_piece(const TextPiece& piece, const PrefixIndex& index, bool special_in_text,
                   TextPieces& out) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<TokenId, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_text_;
  PrefixIndex plain_;
  PrefixIndex normalized_;
};

}  // namespace vitrine::hugging_face
