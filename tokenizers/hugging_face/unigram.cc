// Unigram: the row of tokens whose log probabilities have the highest sum.
#include <algorithm>
#include <limits>

#include "tokenizers/hugging_face/word_model.h"
#include "tokenizers/prefix_index.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

// What an unknown character costs below the least probable token.
constexpr double kUnknownPenalty = 10;
// A lookup walks as far as the longest token: it bounds the work for a character.
constexpr size_t kMostUnigramBytes = 1024;

class Unigram final : public WordModel {
 public:
  Unigram(TokenTable tokens, std::vector<double> scores, std::optional<TokenId> unknown,
          bool byte_fallback)
      : WordModel(std::move(tokens)),
        scores_(std::move(scores)),
        unknown_(unknown),
        byte_fallback_(byte_fallback) {
    unknown_score_ = *std::ranges::min_element(scores_) - kUnknownPenalty;
    std::vector<PrefixIndex::Entry> entries;
    for (size_t id = 0; id < scores_.size(); ++id) {
      entries.push_back({*this->tokens().text(static_cast<TokenId>(id)), static_cast<int64_t>(id)});
    }
    prefixes_ = PrefixIndex(std::move(entries));
  }

  void encode(std::string_view word, std::vector<TokenId>& ids) const override {
    for (const std::string_view part : best_parts(word)) {
      if (const auto id = tokens().find(part)) {
        ids.push_back(*id);
        continue;
      }
      const auto bytes = byte_fallback_ ? ids_of_bytes(tokens(), part) : std::nullopt;
      if (bytes) {
        ids.insert(ids.end(), bytes->begin(), bytes->end());
      } else if (unknown_) {
        ids.push_back(*unknown_);
      } else {
        throw TokenizerError(
            fmt::format("\"{}\" is not in the vocabulary, which has no unknown token", part));
      }
    }
  }

 private:
  struct Node {  // the best way to a place in the word
    double score = 0;
    size_t begin = 0;  // of its last token
    TokenId id = -1;
    bool reached = false;

    void take(double candidate, size_t from, TokenId token) {
      if (reached && candidate <= score) return;
      *this = {candidate, from, token, true};
    }
  };

  std::vector<std::string_view> best_parts(std::string_view word) const {
    std::vector<Node> nodes(word.size() + 1);
    for (size_t begin = 0; begin < word.size();) {
      const size_t character = character_at(word, begin).size;
      const double here = nodes[begin].score;
      bool has_character = false;
      prefixes_.each_prefix(word.substr(begin), [&](const PrefixIndex::Entry& token) {
        const size_t size = token.text.size();
        nodes[begin + size].take(scores_[static_cast<size_t>(token.value)] + here, begin,
                                 static_cast<TokenId>(token.value));
        has_character = has_character || size == character;
      });
      if (!has_character) {
        nodes[begin + character].take(unknown_score_ + here, begin, unknown_.value_or(0));
      }
      begin += character;
    }
    return parts_along(nodes, word);
  }

  // Unknown neighbours become one part.
  std::vector<std::string_view> parts_along(const std::vector<Node>& nodes,
                                            std::string_view word) const {
    std::vector<std::string_view> parts;
    bool fuses = false;
    size_t fused_end = 0;
    for (size_t end = word.size(); end > 0;) {
      const Node& node = nodes[end];
      const bool is_unknown = unknown_ && node.id == *unknown_;
      if (is_unknown && fuses) {
        parts.pop_back();
      } else {
        fused_end = end;
      }
      parts.push_back(word.substr(node.begin, fused_end - node.begin));
      fuses = is_unknown;
      end = node.begin;
    }
    std::ranges::reverse(parts);
    return parts;
  }

  std::vector<double> scores_;
  PrefixIndex prefixes_;
  std::optional<TokenId> unknown_;
  bool byte_fallback_;
  double unknown_score_;
};

}  // namespace

std::unique_ptr<WordModel> read_unigram(const JsonValue& json, const std::string& place) {
  std::vector<TokenTable::Entry> entries;
  std::vector<double> scores;
  json.at("vocab").each_item([&](const JsonValue& item) {
    std::optional<std::string> text;
    std::optional<double> score;
    item.each_item([&](const JsonValue& part) {
      if (!text) {
        text = part.string();
      } else if (!score) {
        score = part.number();
      } else {
        item.fail("is not a token and its score");
      }
    });
    if (!score) item.fail("is not a token and its score");
    if (!(*score > -std::numeric_limits<double>::infinity() &&
          *score < std::numeric_limits<double>::infinity())) {
      item.fail("has a score that is not finite");
    }
    if (text->size() > kMostUnigramBytes) {
      item.fail(
          fmt::format("has {} bytes, more than the {} accepted", text->size(), kMostUnigramBytes));
    }
    entries.push_back({std::move(*text), static_cast<int64_t>(entries.size())});
    scores.push_back(*score);
  });
  if (entries.empty()) json.at("vocab").fail("is empty");
  std::optional<TokenId> unknown;
  if (json.holds("unk_id")) {
    const JsonValue id = json.at("unk_id");
    if (id.integer() < 0 || id.integer<uint64_t>() >= entries.size()) {
      id.fail(fmt::format("is {}, of a vocabulary of {}", id.integer(), entries.size()));
    }
    unknown = id.integer<TokenId>();
  }
  const bool byte_fallback = json.holds("byte_fallback") && json.at("byte_fallback").boolean();
  return std::make_unique<Unigram>(TokenTable(std::move(entries), place + ": model.vocab"),
                                   std::move(scores), unknown, byte_fallback);
}

}  // namespace vitrine::hugging_face
