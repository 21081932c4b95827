// Implements WordPiece: splits a word from left to right. Each step takes the longest token that is
// a prefix of the rest of the word.
#include <algorithm>

#include "tokenizers/byte_trie.h"
#include "tokenizers/hugging_face/word_model.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kDefaultMaxCharacters = 100;

// Finds the longest token at every position of a word in one pass. Reads the word backward and
// searches for reversed tokens with the Aho-Corasick algorithm. A reversed token ends where the
// token begins.
class LongestTokens {
 public:
  // Uses the tokens that begin with `prefix`, without the prefix. The prefix marks tokens inside of
  // a word.
  LongestTokens(const TokenTable& tokens, std::string_view prefix) {
    std::vector<std::string> reversed(tokens.size());  // indexed by token id
    std::vector<ByteTrie::Entry> entries;
    for (size_t id = 0; id < tokens.size(); ++id) {
      const std::string* text = tokens.text(static_cast<TokenId>(id));
      if (text == nullptr || !text->starts_with(prefix)) continue;
      reversed[id].assign(text->rbegin(), text->rend() - static_cast<ptrdiff_t>(prefix.size()));
      entries.push_back({reversed[id], static_cast<TokenId>(id)});
    }
    trie_ = ByteTrie(std::move(entries));
    suffixes_.resize(trie_.size());
    longest_.resize(trie_.size(), ByteTrie::kNoValue);
    for (ByteTrie::Node node = ByteTrie::kRoot; node < trie_.size(); ++node) {
      const TokenId value = trie_.value(node);
      longest_[node] = value != ByteTrie::kNoValue ? value : longest_[suffixes_[node]];
      for (auto child = trie_.first_child(node); child < trie_.end_of_children(node); ++child) {
        if (node != ByteTrie::kRoot) suffixes_[child] = next(suffixes_[node], trie_.byte(child));
      }
    }
  }

  // Returns the longest token that begins at each position of `text`, or kNoValue.
  std::vector<TokenId> find(std::string_view text) const {
    std::vector<TokenId> found(text.size());
    ByteTrie::Node node = ByteTrie::kRoot;
    for (size_t i = text.size(); i-- > 0;) {
      node = next(node, static_cast<uint8_t>(text[i]));
      found[i] = longest_[node];
    }
    return found;
  }

 private:
  // Appends `byte` to the string of `node`. Returns the node of the longest suffix of this string
  // in the trie.
  ByteTrie::Node next(ByteTrie::Node node, uint8_t byte) const {
    for (;; node = suffixes_[node]) {
      const ByteTrie::Node child = trie_.child(node, byte);
      if (child != ByteTrie::kNoNode || node == ByteTrie::kRoot) return child;
    }
  }

  ByteTrie trie_;
  // The node of the longest proper suffix of each node's string.
  std::vector<ByteTrie::Node> suffixes_;
  std::vector<TokenId> longest_;  // indexed by node: the longest token that ends at the node
};

class WordPiece final : public WordModel {
 public:
  WordPiece(TokenTable tokens, TokenId unknown, std::string prefix, size_t max_characters)
      : WordModel(std::move(tokens)),
        first_(trie_of(this->tokens())),
        others_(this->tokens(), prefix),
        unknown_(unknown),
        prefix_size_(prefix.size()),
        max_characters_(max_characters) {}

  void encode(std::string_view word, std::vector<TokenId>& ids, TextBudget& budget) const override {
    if (word.empty()) return;
    constexpr uint64_t kStepsPerByte = 4;
    budget.take_steps(kStepsPerByte * word.size());
    if (count_characters(word) > max_characters_) {
      ids.push_back(unknown_);
      return;
    }
    const ByteTrie::Prefix first = first_.longest_prefix(word, budget);
    if (first.size == word.size()) {
      ids.push_back(first.value);
      return;
    }
    const size_t count = ids.size();
    const std::vector<TokenId> longest = others_.find(word);
    TokenId id = first.value;
    size_t end = first.size;
    while (id != ByteTrie::kNoValue) {
      ids.push_back(id);
      if (end == word.size()) return;
      id = longest[end];
      if (id != ByteTrie::kNoValue) end += tokens().text(id)->size() - prefix_size_;
    }
    ids.resize(count);
    ids.push_back(unknown_);
  }

 private:
  static ByteTrie trie_of(const TokenTable& tokens) {
    std::vector<ByteTrie::Entry> entries;
    for (size_t id = 0; id < tokens.size(); ++id) {
      const std::string* text = tokens.text(static_cast<TokenId>(id));
      if (text != nullptr) entries.push_back({*text, static_cast<TokenId>(id)});
    }
    return ByteTrie(std::move(entries));
  }

  ByteTrie first_;        // tokens at the beginning of a word
  LongestTokens others_;  // tokens inside of a word
  TokenId unknown_;
  size_t prefix_size_;
  size_t max_characters_;  // longer words are unknown
};

}  // namespace

std::unique_ptr<WordModel> read_word_piece(const JsonValue& json, const std::string& place) {
  TokenTable tokens = read_vocabulary(json.at("vocab"), place);
  const auto unknown = tokens.find(json.at("unk_token").string());
  if (!unknown) json.at("unk_token").fail("is not in the vocabulary");
  size_t max_characters = kDefaultMaxCharacters;
  if (json.holds("max_input_chars_per_word")) {
    max_characters = json.at("max_input_chars_per_word").integer<size_t>();
  }
  return std::make_unique<WordPiece>(std::move(tokens), *unknown,
                                     optional_string(json, "continuing_subword_prefix"),
                                     max_characters);
}

}  // namespace vitrine::hugging_face
