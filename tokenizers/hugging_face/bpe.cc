// Implements byte-pair encoding with a list of merges.
#include <algorithm>

#include "tokenizers/hugging_face/replacement.h"
#include "tokenizers/hugging_face/word_model.h"
#include "tokenizers/pair_merging.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

struct BpeOptions {
  std::optional<TokenId> unknown;  // replaces characters that are not tokens
  std::string unknown_text;        // the vocabulary may lack this name
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;  // a word that is a token stays whole
  std::string continuing_prefix;
  std::string end_suffix;
};

using Merges = std::unordered_map<uint64_t, PairMerge<uint32_t>>;

uint64_t pair_key(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

class Bpe final : public WordModel {
 public:
  Bpe(TokenTable tokens, Merges merges, BpeOptions options)
      : WordModel(std::move(tokens)), merges_(std::move(merges)), options_(std::move(options)) {}

  void encode(std::string_view word, std::vector<TokenId>& ids, TextBudget& budget) const override {
    if (options_.ignore_merges) {
      if (const auto id = tokens().find(word)) {
        ids.push_back(*id);
        return;
      }
    }
    std::vector<Symbol> symbols = symbols_of(word, budget);
    merge_pairs<uint32_t>(symbols, [this](const Symbol& left, const Symbol& right) {
      const auto merge = merges_.find(pair_key(left.id, right.id));
      return merge == merges_.end() ? std::optional<PairMerge<uint32_t>>() : merge->second;
    });
    for (const Symbol& symbol : symbols) ids.push_back(symbol.id);
  }

 private:
  // Returns a character with its affixes: a prefix unless the character begins the word, and a
  // suffix if the character ends the word. The result may refer to `storage`.
  std::string_view with_affixes(std::string_view word, size_t begin, size_t size,
                                std::string& storage) const {
    const std::string_view character = word.substr(begin, size);
    const bool has_prefix = begin > 0 && !options_.continuing_prefix.empty();
    const bool has_suffix = begin + size == word.size() && !options_.end_suffix.empty();
    if (!has_prefix && !has_suffix) return character;
    storage.assign(has_prefix ? options_.continuing_prefix : "").append(character);
    return storage.append(has_suffix ? options_.end_suffix : "");
  }

  std::vector<Symbol> symbols_of(std::string_view word, TextBudget& budget) const {
    constexpr uint64_t kStepsPerByte = 16;  // merging included
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    std::optional<Symbol> unknown;  // added before the next known character
    const auto flush = [&] {
      if (unknown) symbols.push_back(*unknown);
      unknown.reset();
    };
    std::string storage;
    for (size_t begin = 0; begin < word.size();) {
      const size_t size = character_at(word, begin).size;
      const std::string_view text = with_affixes(word, begin, size, storage);
      budget.take_steps(kStepsPerByte * size + text.size());
      if (const auto id = tokens().find(text)) {
        flush();
        symbols.push_back({*id, begin, size});
      } else if (!add_bytes(symbols, text, begin, budget) && has_unknown()) {
        if (unknown && options_.fuse_unknown) {
          unknown->size += size;
        } else {
          flush();
          unknown = Symbol{*options_.unknown, begin, size};
        }
      }
      begin += size;
    }
    flush();
    // Prefixes and suffixes can become byte tokens, so the word can have more symbols than bytes.
    if (symbols.size() > word.size()) budget.resize(word.size(), symbols.size());
    return symbols;
  }

  // Returns false if the file does not name an unknown token, so that unknown characters are
  // dropped. Throws TokenizerError if the vocabulary lacks the named token.
  bool has_unknown() const {
    if (!options_.unknown && !options_.unknown_text.empty()) {
      throw TokenizerError(
          fmt::format("a character is not in the vocabulary, and neither is the unk_token \"{}\"",
                      options_.unknown_text));
    }
    return options_.unknown.has_value();
  }

  bool add_bytes(std::vector<Symbol>& symbols, std::string_view text, size_t begin,
                 TextBudget& budget) const {
    if (!options_.byte_fallback) return false;
    const auto ids = ids_of_bytes(tokens(), text, budget);
    if (!ids) return false;
    for (const TokenId id : *ids) symbols.push_back({id, begin, 1});
    return true;
  }

  Merges merges_;
  BpeOptions options_;
};

// Reads a merge: ["a", "b"], or "a b" in older files.
std::pair<std::string, std::string> read_pair(const JsonValue& json) {
  if (json.is_list()) {
    if (json.size() != 2) json.fail(fmt::format("has {} parts, expected 2", json.size()));
    std::vector<std::string> parts;
    json.each_item([&](const JsonValue& part) { parts.push_back(part.string()); });
    return {std::move(parts[0]), std::move(parts[1])};
  }
  const std::string& text = json.string();
  const size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
    json.fail("must be two parts with a space between them");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

Merges read_merges(const JsonValue& json, const TokenTable& tokens, const std::string& prefix) {
  Merges merges;
  merges.reserve(json.size());
  uint32_t rank = 0;
  json.each_item([&](const JsonValue& item) {
    const auto known = [&](const std::string& token) {
      const auto id = tokens.find(token);
      if (!id) item.fail(fmt::format("\"{}\" is not in the vocabulary", token));
      return *id;
    };
    const auto [left, right] = read_pair(item);
    const uint64_t key = pair_key(known(left), known(right));
    const bool drops_prefix = !prefix.empty() && right.starts_with(prefix);
    const std::string merged = left + (drops_prefix ? right.substr(prefix.size()) : right);
    merges[key] = {rank++, known(merged)};
  });
  return merges;
}

}  // namespace

std::unique_ptr<WordModel> read_bpe(const JsonValue& json, const std::string& place) {
  TokenTable tokens = read_vocabulary(json.at("vocab"), place);
  const auto flag = [&](const char* key) { return json.holds(key) && json.at(key).boolean(); };
  if (json.holds("dropout") && json.at("dropout").number() != 0) {
    json.at("dropout").fail("must be 0: random dropout of merges is not supported");
  }
  BpeOptions options;
  options.fuse_unknown = flag("fuse_unk");
  options.byte_fallback = flag("byte_fallback");
  options.ignore_merges = flag("ignore_merges");
  const auto affix = [&](const char* key) {
    return json.holds(key) ? read_content(json.at(key)) : std::string();
  };
  options.continuing_prefix = affix("continuing_subword_prefix");
  options.end_suffix = affix("end_of_word_suffix");
  options.unknown_text = optional_string(json, "unk_token");
  options.unknown = tokens.find(options.unknown_text);
  Merges merges = read_merges(json.at("merges"), tokens, options.continuing_prefix);
  return std::make_unique<Bpe>(std::move(tokens), std::move(merges), std::move(options));
}

}  // namespace vitrine::hugging_face
