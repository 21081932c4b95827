// Tokens by id and ids by token.
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
  // Ids may leave gaps, though not many more than there are tokens. TokenizerError naming `place`
  // if an id is negative, repeats or is far beyond the others.
  TokenTable(std::vector<Entry> entries, const std::string& place);

  // Entries that hold a token; gaps are left out.
  const std::string* text(TokenId id) const;
  // The first id where several have this text.
  std::optional<TokenId> find(std::string_view text) const;
  size_t size() const { return texts_.size(); }  // the highest id and one
  size_t distinct() const { return ids_.size(); }
  size_t longest() const { return longest_; }  // bytes of the longest token

 private:
  std::vector<std::string> texts_;
  std::vector<bool> present_;
  std::unordered_map<std::string_view, TokenId> ids_;  // of texts_'s strings, which stay
  size_t longest_ = 0;
};

// An id and what it stands for, checked against what a table may hold.
TokenId checked_id(int64_t id, size_t token_count, std::string_view text, const std::string& place);

}  // namespace vitrine
