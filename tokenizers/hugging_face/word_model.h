// The "model" of a tokenizer.json: a word to token ids.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tokenizers/token_table.h"

namespace vitrine::hugging_face {

// Immutable.
class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the ids of a word, well-formed text.
  virtual void encode(std::string_view word, std::vector<TokenId>& ids) const = 0;

  const TokenTable& tokens() const { return tokens_; }

 protected:
  explicit WordModel(TokenTable tokens) : tokens_(std::move(tokens)) {}

 private:
  TokenTable tokens_;
};

// `place` names the file. Throws FormatError or TokenizerError.
std::unique_ptr<WordModel> read_word_model(const JsonValue& json, const std::string& place);
// The type that the file says, or would say: old files leave it out.
std::string word_model_type(const JsonValue& json);

std::unique_ptr<WordModel> read_bpe(const JsonValue& json, const std::string& place);
std::unique_ptr<WordModel> read_unigram(const JsonValue& json, const std::string& place);
std::unique_ptr<WordModel> read_word_level(const JsonValue& json, const std::string& place);
std::unique_ptr<WordModel> read_word_piece(const JsonValue& json, const std::string& place);

// An object of ids by token.
TokenTable read_vocabulary(const JsonValue& json, const std::string& place);
// A string that may be absent or null.
std::string optional_string(const JsonValue& json, const char* key);
// The ids that the bytes of `text` have as "<0x0A>" and the like, if all of them have one.
std::optional<std::vector<TokenId>> ids_of_bytes(const TokenTable& tokens, std::string_view text);

}  // namespace vitrine::hugging_face
