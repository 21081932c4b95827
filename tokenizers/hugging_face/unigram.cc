// Implements Unigram: the tokens of a word have the highest sum of log probabilities.
#include <algorithm>
#include <limits>

#include "tokenizers/byte_trie.h"
#include "tokenizers/hugging_face/word_model.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

// The score of an unknown character is this much below the lowest score of a token.
constexpr double kUnknownPenalty = 10;
// Maximum size of a token in bytes. A lookup takes at most this many steps.
constexpr size_t kMaxUnigramBytes = 1024;

class Unigram final : public WordModel {
 public:
  Unigram(TokenTable tokens, std::vector<double> scores, std::optional<TokenId> unknown,
          bool byte_fallback)
      : WordModel(std::move(tokens)),
        scores_(std::move(scores)),
        unknown_(unknown),
        byte_fallback_(byte_fallback) {
    unknown_score_ = *std::ranges::min_element(scores_) - kUnknownPenalty;
    std::vector<ByteTrie::Entry> entries;
    for (size_t id = 0; id < scores_.size(); ++id) {
      entries.push_back({*this->tokens().text(static_cast<TokenId>(id)), static_cast<TokenId>(id)});
    }
    trie_ = ByteTrie(std::move(entries));
  }

  void encode(std::string_view word, std::vector<TokenId>& ids, TextBudget& budget) const override {
    for (const std::string_view part : best_parts(word, budget)) {
      if (const auto id = tokens().find(part)) {
        ids.push_back(*id);
        continue;
      }
      const auto bytes = byte_fallback_ ? ids_of_bytes(tokens(), part, budget) : std::nullopt;
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
  // The best sequence of tokens that ends at a position in the word.
  struct Node {
    double score = 0;
    size_t begin = 0;  // position of the last token
    TokenId id = -1;
    bool reached = false;

    void take(double candidate, size_t from, TokenId token) {
      if (reached && candidate <= score) return;
      *this = {candidate, from, token, true};
    }
  };

  std::vector<std::string_view> best_parts(std::string_view word, TextBudget& budget) const {
    constexpr uint64_t kStepsPerByte = 8;
    budget.take_steps(kStepsPerByte * word.size());
    std::vector<Node> nodes(word.size() + 1);
    for (size_t begin = 0; begin < word.size();) {
      const size_t character = character_at(word, begin).size;
      const double here = nodes[begin].score;
      bool has_character = false;
      trie_.each_prefix(word.substr(begin), budget, [&](TokenId id, size_t size) {
        nodes[begin + size].take(scores_[static_cast<size_t>(id)] + here, begin, id);
        has_character = has_character || size == character;
      });
      if (!has_character) {
        nodes[begin + character].take(unknown_score_ + here, begin, unknown_.value_or(0));
      }
      begin += character;
    }
    return parts_along(nodes, word);
  }

  // Returns the parts of the word on the best path. Neighboring unknown characters become one part.
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
  ByteTrie trie_;
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
        item.fail("must be a token and its score");
      }
    });
    if (!score) item.fail("must be a token and its score");
    if (!(*score > -std::numeric_limits<double>::infinity() &&
          *score < std::numeric_limits<double>::infinity())) {
      item.fail("has a score that is not finite");
    }
    if (text->size() > kMaxUnigramBytes) {
      item.fail(
          fmt::format("has {} bytes; at most {} are accepted", text->size(), kMaxUnigramBytes));
    }
    entries.push_back({std::move(*text), static_cast<int64_t>(entries.size())});
    scores.push_back(*score);
  });
  if (entries.empty()) json.at("vocab").fail("is empty");
  std::optional<TokenId> unknown;
  if (json.holds("unk_id")) {
    const JsonValue id = json.at("unk_id");
    if (id.integer() < 0 || id.integer<uint64_t>() >= entries.size()) {
      id.fail(fmt::format("is {}, but the vocabulary has {} tokens", id.integer(), entries.size()));
    }
    unknown = id.integer<TokenId>();
  }
  const bool byte_fallback = json.holds("byte_fallback") && json.at("byte_fallback").boolean();
  return std::make_unique<Unigram>(TokenTable(std::move(entries), place + ": model.vocab"),
                                   std::move(scores), unknown, byte_fallback);
}

}  // namespace vitrine::hugging_face
