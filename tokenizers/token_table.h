#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vitrine/tokenizer.h"

namespace vitrine {

class TokenTable {
 public:
  struct Entry {
    std::string text;
    int64_t id;
  };

  TokenTable() = default;
  TokenTable(TokenTable&&) = default;
  TokenTable& operator=(TokenTable&&) = default;
  // Ids may leave gaps. Throws TokenizerError naming `place` if an id is negative, repeats, or is
  // far above the number of tokens.
  TokenTable(std::vector<Entry> entries, const std::string& place);

  // Returns a token's text, or null for gaps and unknown ids.
  const std::string* text(TokenId id) const;
  // Returns the lowest id of a token with this text, or nullopt.
  std::optional<TokenId> find(std::string_view text) const;
  size_t size() const { return texts_.size(); }  // the highest id plus one
  size_t distinct() const { return ids_.size(); }
  size_t longest() const { return longest_; }  // size of the longest token in bytes

 private:
  std::vector<std::string> texts_;
  std::vector<bool> present_;
  std::unordered_map<std::string_view, TokenId> ids_;  // keys view strings in texts_
  size_t longest_ = 0;
};

// Returns `id`. Throws TokenizerError if the id is negative or far above `token_count`. `text`
// names the token in errors.
TokenId checked_id(int64_t id, size_t token_count, std::string_view text, const std::string& place);

}  // namespace vitrine
