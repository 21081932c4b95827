// Implements WordLevel: each token is a word.
#include "tokenizers/hugging_face/word_model.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

class WordLevel final : public WordModel {
 public:
  WordLevel(TokenTable tokens, const std::string& unknown)
      : WordModel(std::move(tokens)),
        unknown_text_(unknown),
        unknown_(this->tokens().find(unknown)) {}

  void encode(std::string_view word, std::vector<TokenId>& ids, TextBudget&) const override {
    const auto known = tokens().find(word);
    if (!known && !unknown_) {
      throw TokenizerError(fmt::format(
          "a word is not in the vocabulary, and neither is the unk_token \"{}\"", unknown_text_));
    }
    ids.push_back(known ? *known : *unknown_);
  }

 private:
  std::string unknown_text_;
  std::optional<TokenId> unknown_;
};

}  // namespace

std::unique_ptr<WordModel> read_word_level(const JsonValue& json, const std::string& place) {
  return std::make_unique<WordLevel>(read_vocabulary(json.at("vocab"), place),
                                     json.at("unk_token").string());
}

}  // namespace vitrine::hugging_face
