// WordPiece: the longest token that a word begins with, then the longest that the rest does.
#include <algorithm>

#include "tokenizers/hugging_face/word_model.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kUsualMostCharacters = 100;
// Longer words are unknown; it bounds the work, which grows with the square.
constexpr size_t kMostCharacters = 4096;

class WordPiece final : public WordModel {
 public:
  WordPiece(TokenTable tokens, TokenId unknown, std::string prefix, size_t most_characters)
      : WordModel(std::move(tokens)),
        unknown_(unknown),
        prefix_(std::move(prefix)),
        most_characters_(most_characters) {}

  void encode(std::string_view word, std::vector<TokenId>& ids) const override {
    if (count_characters(word) > most_characters_) {
      ids.push_back(unknown_);
      return;
    }
    const size_t count = ids.size();
    for (size_t begin = 0; begin < word.size();) {
      size_t size = std::min(word.size() - begin, tokens().longest());
      std::optional<TokenId> found;
      for (; size > 0; --size) {
        found = find_part(word, begin, size);
        if (found) break;
      }
      if (!found) {
        ids.resize(count);
        ids.push_back(unknown_);
        return;
      }
      ids.push_back(*found);
      begin += size;
    }
  }

 private:
  std::optional<TokenId> find_part(std::string_view word, size_t begin, size_t size) const {
    const std::string_view part = word.substr(begin, size);
    return begin == 0 ? tokens().find(part) : tokens().find(prefix_ + std::string(part));
  }

  TokenId unknown_;
  std::string prefix_;
  size_t most_characters_;
};

}  // namespace

std::unique_ptr<WordModel> read_word_piece(const JsonValue& json, const std::string& place) {
  TokenTable tokens = read_vocabulary(json.at("vocab"), place);
  const auto unknown = tokens.find(json.at("unk_token").string());
  if (!unknown) json.at("unk_token").fail("is not in the vocabulary");
  size_t most = kUsualMostCharacters;
  if (json.holds("max_input_chars_per_word")) {
    most = json.at("max_input_chars_per_word").integer<size_t>();
  }
  if (most > kMostCharacters) {
    json.at("max_input_chars_per_word")
        .fail(fmt::format("is {}, more than the {} accepted", most, kMostCharacters));
  }
  return std::make_unique<WordPiece>(std::move(tokens), *unknown,
                                     optional_string(json, "continuing_subword_prefix"), most);
}

}  // namespace vitrine::hugging_face
