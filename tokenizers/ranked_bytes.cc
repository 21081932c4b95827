#include "tokenizers/ranked_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "tokenizers/byte_trie.h"
#include "tokenizers/pair_merging.h"
#include "tokenizers/pattern.h"
#include "tokenizers/token_table.h"
#include "tokenizers/unicode.h"

namespace vitrine {
namespace {

// Looking up a merged pair costs one step of TextBudget for each kBytesPerStep bytes, plus one
// step.
constexpr size_t kBytesPerStep = 8;

class RankedBytesTokenizer final : public Tokenizer {
 public:
  RankedBytesTokenizer(RankedBytes from, const std::string& place)
      : place_(place), pattern_(from.pattern, PatternSyntax::kTiktoken, place) {
    form_ = from.form;
    special_tokens_ = std::move(from.special_tokens);
    std::vector<TokenTable::Entry> entries;
    for (RankedBytes::Token& token : from.tokens) {
      if (token.rank < 0 || token.bytes.empty()) {
        throw TokenizerError(fmt::format(
            "{}: a token of {} bytes has rank {}; tokens must not be empty and ranks not negative",
            place, token.bytes.size(), token.rank));
      }
      entries.push_back({std::move(token.bytes), token.rank});
    }
    // The table omits special tokens, because they are not parts of words.
    const size_t count = entries.size();
    tokens_ = TokenTable(std::move(entries), place);
    if (tokens_.distinct() != count) {
      throw TokenizerError(fmt::format("{}: a token has two ranks", place));
    }
    first_id_ = checked_id(from.first_id, count, "first", place);
    index_special_tokens();
    bos_ = special_id(from.bos);
    eos_ = special_id(from.eos);
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    const std::string valid = well_formed(text);
    TextBudget budget(place_, text.size());
    std::vector<TokenId> ids;
    size_t done = 0;
    for (size_t at = 0; options.special_in_text && at < valid.size();) {
      const ByteTrie::Prefix longest =
          special_.longest_prefix(std::string_view(valid).substr(at), budget);
      if (longest.size == 0) {
        ++at;
        continue;
      }
      encode_text(std::string_view(valid).substr(done, at - done), ids, budget);
      ids.push_back(longest.value);
      done = at += longest.size;
    }
    encode_text(std::string_view(valid).substr(done), ids, budget);
    return with_ends(std::move(ids), options);
  }

  size_t vocabulary_size() const override { return size_; }

  std::optional<std::string> token(TokenId id) const override {
    if (const std::string* name = special_text(id)) return *name;
    const std::string* bytes = id < first_id_ ? nullptr : tokens_.text(id - first_id_);
    return bytes == nullptr ? std::nullopt : std::optional(*bytes);
  }

  std::optional<TokenId> id_of(std::string_view token) const override {
    if (const auto id = special_id(token)) return id;
    const auto rank = tokens_.find(token);
    return rank ? std::optional(*rank + first_id_) : std::nullopt;
  }

 private:
  void index_special_tokens() {
    size_ = static_cast<size_t>(first_id_) + tokens_.size();
    std::vector<ByteTrie::Entry> names;
    for (const auto& [id, text] : special_tokens_) {
      if (id < 0 || (id >= first_id_ && tokens_.text(id - first_id_) != nullptr) ||
          !special_texts_.emplace(id, text).second) {
        throw TokenizerError(fmt::format(
            "{}: id {} of \"{}\" is negative or belongs to another token", place_, id, text));
      }
      size_ = std::max(size_, static_cast<size_t>(id) + 1);
      names.push_back({text, id});
    }
    special_ = ByteTrie(std::move(names));
  }

  const std::string* special_text(TokenId id) const {
    const auto found = special_texts_.find(id);
    return found == special_texts_.end() ? nullptr : &found->second;
  }

  std::optional<TokenId> special_id(std::string_view name) const {
    for (const auto& [id, text] : special_tokens_) {
      if (!name.empty() && text == name) return id;
    }
    return std::nullopt;
  }

  void encode_text(std::string_view text, std::vector<TokenId>& ids, TextBudget& budget) const {
    if (text.empty()) return;
    pattern_.each_match(text, budget, [&](size_t begin, size_t end) {
      if (begin < end) encode_word(text.substr(begin, end - begin), ids, budget);
    });
  }

  void encode_word(std::string_view word, std::vector<TokenId>& ids, TextBudget& budget) const {
    constexpr uint64_t kStepsPerByte = 16;
    budget.take_steps(kStepsPerByte * word.size());
    if (const auto rank = tokens_.find(word)) {
      ids.push_back(*rank + first_id_);
      return;
    }
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    for (size_t i = 0; i < word.size(); ++i) {
      const auto rank = tokens_.find(word.substr(i, 1));
      if (!rank) {
        throw TokenizerError(fmt::format("{}: the byte 0x{:02X} is not in the vocabulary", place_,
                                         static_cast<uint8_t>(word[i])));
      }
      symbols.push_back({*rank, i, 1});
    }
    merge_pairs<TokenId>(symbols, [&](const Symbol& left, const Symbol& right) {
      std::optional<PairMerge<TokenId>> merge;
      const size_t size = left.size + right.size;
      if (size > tokens_.longest()) return merge;
      budget.take_steps(1 + size / kBytesPerStep);
      if (const auto rank = tokens_.find(word.substr(left.begin, size))) merge = {*rank, *rank};
      return merge;
    });
    for (const Symbol& symbol : symbols) ids.push_back(symbol.id + first_id_);
  }

  class Stream final : public DecodeStream {
   public:
    Stream(const RankedBytesTokenizer& tokenizer, bool skip_special)
        : tokenizer_(tokenizer), skip_special_(skip_special) {}

    std::string push(TokenId id) override {
      if (id < 0) throw TokenizerError(fmt::format("{} is not a token id", id));
      if (skip_special_ && tokenizer_.special_text(id) != nullptr) return "";
      return characters_.push(tokenizer_.token(id).value_or(""));
    }
    std::string finish() override { return characters_.finish(); }

   private:
    const RankedBytesTokenizer& tokenizer_;
    bool skip_special_;
    CharacterStream characters_;
  };

  std::unique_ptr<DecodeStream> make_stream(const DecodeOptions& options, bool) const override {
    return std::make_unique<Stream>(*this, options.skip_special);
  }

  std::string place_;
  Pattern pattern_;
  TokenTable tokens_;  // the table's ids are ranks
  TokenId first_id_ = 0;
  size_t size_ = 0;
  std::unordered_map<TokenId, std::string> special_texts_;
  ByteTrie special_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_ranked_bytes_tokenizer(RankedBytes description,
                                                       const std::string& place) {
  return std::make_unique<RankedBytesTokenizer>(std::move(description), place);
}

}  // namespace vitrine
