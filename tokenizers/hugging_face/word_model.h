// The "model" of a tokenizer.json turns a word into token ids.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tokenizers/text_budget.h"
#include "tokenizers/token_table.h"

namespace vitrine::hugging_face {

// Immutable.
class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the token ids of `word`, which must be well-formed text, to `ids`.
  virtual void encode(std::string_view word, std::vector<TokenId>& ids,
                      TextBudget& budget) const = 0;

  const TokenTable& tokens() const { return tokens_; }

 protected:
  explicit WordModel(TokenTable tokens) : tokens_(std::move(tokens)) {}

 private:
  TokenTable tokens_;
};

// Reads the "model". `place` names the file in errors. Throws FormatError or TokenizerError.
std::unique_ptr<WordModel> read_word_model(const JsonValue& json, const std::string& place);
// Returns the model's type. Old files do not name the type, so other members determine it.
std::string word_model_type(const JsonValue& json);

std::unique_ptr<WordModel> read_bpe(const JsonValue& json, const std::string& place);
std::unique_ptr<WordModel> read_unigram(const JsonValue& json, const std::string& place);
std::unique_ptr<WordModel> read_word_level(const JsonValue& json, const std::string& place);
std::unique_ptr<WordModel> read_word_piece(const JsonValue& json, const std::string& place);

// Reads a JSON object that maps tokens to ids.
TokenTable read_vocabulary(const JsonValue& json, const std::string& place);
// Returns "" if the string is absent or null.
std::string optional_string(const JsonValue& json, const char* key);
// Returns the ids of the byte tokens of `text`, such as "<0x0A>". Returns nullopt if the table
// lacks the token of a byte.
std::optional<std::vector<TokenId>> ids_of_bytes(const TokenTable& tokens, std::string_view text,
                                                 TextBudget& budget);

}  // namespace vitrine::hugging_face
