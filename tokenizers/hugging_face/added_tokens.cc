#include "tokenizers/hugging_face/added_tokens.h"

#include <algorithm>

#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

// Maximum size of a token in bytes. A search takes at most this many steps per byte of text.
constexpr size_t kMaxAddedBytes = 1024;

AddedToken read_token(const JsonValue& json, size_t token_count, const std::string& place) {
  const auto flag = [&](const char* key, bool otherwise) {
    return json.holds(key) ? json.at(key).boolean() : otherwise;
  };
  AddedToken token;
  token.text = json.at("content").string();
  if (token.text.size() > kMaxAddedBytes) {
    json.fail(
        fmt::format("has {} bytes; at most {} are accepted", token.text.size(), kMaxAddedBytes));
  }
  token.id = checked_id(json.at("id").integer(), token_count, token.text, place);
  token.single_word = flag("single_word", false);
  token.takes_left = flag("lstrip", false);
  token.takes_right = flag("rstrip", false);
  token.special = flag("special", false);
  token.normalized = flag("normalized", !token.special);
  return token;
}

// Precondition: `text` is not empty.
char32_t last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
  return character_at(text, begin).value;
}

bool ends_a_word(std::string_view text) {
  return !text.empty() && is_word_part(last_character(text));
}
bool begins_a_word(std::string_view text) {
  return !text.empty() && is_word_part(character_at(text, 0).value);
}

size_t white_space_after(std::string_view text) {
  size_t size = 0;
  while (size < text.size()) {
    const Character character = character_at(text, size);
    if (!is_white_space(character.value)) break;
    size += character.size;
  }
  return size;
}

size_t white_space_before(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && is_white_space(last_character(text.substr(0, begin)))) {
    do --begin;
    while ((text[begin] & 0xC0) == 0x80);
  }
  return text.size() - begin;
}

}  // namespace

AddedTokens::AddedTokens(const JsonValue& json, const TokenTable& vocabulary,
                         const Normalizer& normalizer, const std::string& place) {
  const size_t token_count = vocabulary.size() + json.size();
  TextBudget budget(place, 0);  // one budget for all tokens
  json.each_item([&](const JsonValue& item) {
    AddedToken token = read_token(item, token_count, place);
    const AddedToken* same = find(token.text);
    if (token.text.empty() || (same != nullptr && same->id == token.id)) return;
    const auto known = vocabulary.find(token.text);
    if (known && *known != token.id) {
      item.fail(fmt::format("\"{}\" has the id {}, but the vocabulary says {}", token.text,
                            token.id, *known));
    }
    const std::string* other = vocabulary.text(token.id);
    const bool is_new = by_text_.emplace(token.text, tokens_.size()).second;
    const bool has_own_id = by_id_.emplace(token.id, tokens_.size()).second;
    if (!is_new || !has_own_id || (!known && other != nullptr)) {
      item.fail(
          fmt::format("\"{}\", id {}: another token has this text or id", token.text, token.id));
    }
    if (token.normalized && normalizer) {
      budget.add_text(token.text.size());
      std::string text = token.text;
      normalizer(text, budget);
      if (text != token.text) token.normalized_text = std::move(text);
    }
    tokens_.push_back(std::move(token));
  });
  std::vector<ByteTrie::Entry> plain;
  std::vector<ByteTrie::Entry> normalized;
  for (const AddedToken& token : tokens_) {
    const auto index = static_cast<TokenId>(&token - tokens_.data());
    const std::string& text = token.normalized_text ? *token.normalized_text : token.text;
    (token.normalized ? normalized : plain).push_back({text, index});
  }
  plain_ = ByteTrie(std::move(plain));
  normalized_ = ByteTrie(std::move(normalized));
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view text) const {
  const auto found = by_text_.find(std::string(text));
  return found == by_text_.end() ? nullptr : &tokens_[found->second];
}

void AddedTokens::split(TextPieces& pieces, bool normalized, bool special_in_text,
                        TextBudget& budget) const {
  TextPieces split;
  for (TextPiece& piece : pieces) {
    if (piece.id) {
      split.push_back(std::move(piece));
    } else {
      split_piece(piece, normalized ? normalized_ : plain_, special_in_text, budget, split);
    }
  }
  pieces = std::move(split);
}

void AddedTokens::split_piece(const TextPiece& piece, const ByteTrie& trie, bool special_in_text,
                              TextBudget& budget, TextPieces& out) const {
  const std::string_view text = piece.text;
  size_t done = 0;
  const auto add = [&](size_t begin, size_t end, std::optional<TokenId> id) {
    if (begin < end) {
      out.push_back(
          {std::string(text.substr(begin, end - begin)), id, piece.at_start && begin == 0});
    }
  };
  for (size_t at = 0; at < text.size();) {
    const ByteTrie::Prefix longest = trie.longest_prefix(text.substr(at), budget);
    if (longest.size == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(longest.value)];
    size_t begin = at;
    size_t end = at + longest.size;
    at = end;
    if (token.special && !special_in_text) continue;
    if (token.single_word &&
        (ends_a_word(text.substr(0, begin)) || begins_a_word(text.substr(end)))) {
      continue;
    }
    if (begin < done) continue;  // the token is in the white space of the previous token
    if (token.takes_left) begin -= white_space_before(text.substr(done, begin - done));
    if (token.takes_right) end += white_space_after(text.substr(end));
    add(done, begin, std::nullopt);
    add(begin, end, token.id);
    done = end;
  }
  add(done, text.size(), std::nullopt);
}

}  // namespace vitrine::hugging_face
