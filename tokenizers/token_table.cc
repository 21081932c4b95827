#include "tokenizers/token_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace vitrine {
namespace {

// Maximum number of unused ids. Known vocabularies have a few thousand unused ids.
constexpr size_t kMaxGaps = 65536;

}  // namespace

TokenId checked_id(int64_t id, size_t token_count, std::string_view text,
                   const std::string& place) {
  if (id < 0)
    throw TokenizerError(fmt::format("{}: token \"{}\" has the negative id {}", place, text, id));
  const size_t end = 2 * token_count + kMaxGaps;
  if (static_cast<uint64_t>(id) >= end) {
    throw TokenizerError(fmt::format("{}: token \"{}\" has the id {}, far beyond the {} tokens",
                                     place, text, id, token_count));
  }
  return static_cast<TokenId>(id);
}

TokenTable::TokenTable(std::vector<Entry> entries, const std::string& place) {
  TokenId highest = -1;
  for (const Entry& entry : entries) {
    highest = std::max(highest, checked_id(entry.id, entries.size(), entry.text, place));
  }
  texts_.resize(static_cast<size_t>(highest) + 1);
  present_.resize(texts_.size());
  ids_.reserve(entries.size());
  for (Entry& entry : entries) {
    const auto index = static_cast<size_t>(entry.id);
    if (present_[index]) {
      throw TokenizerError(fmt::format("{}: id {} is both \"{}\" and \"{}\"", place, entry.id,
                                       texts_[index], entry.text));
    }
    present_[index] = true;
    texts_[index] = std::move(entry.text);
    longest_ = std::max(longest_, texts_[index].size());
  }
  for (size_t id = 0; id < texts_.size(); ++id) {
    if (present_[id]) ids_.emplace(texts_[id], static_cast<TokenId>(id));
  }
}

const std::string* TokenTable::text(TokenId id) const {
  if (id < 0 || static_cast<size_t>(id) >= texts_.size()) return nullptr;
  const auto index = static_cast<size_t>(id);
  return present_[index] ? &texts_[index] : nullptr;
}

std::optional<TokenId> TokenTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace vitrine
