#include "tokenizers/prefix_index.h"

#include <algorithm>

namespace vitrine {

PrefixIndex::PrefixIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.text.empty(); });
  std::ranges::stable_sort(entries_, {}, &Entry::text);
  const auto same_text = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same_text), entries_.end());
  for (const Entry& entry : entries_) ++first_[static_cast<uint8_t>(entry.text[0]) + size_t{1}];
  for (size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

PrefixIndex::Range PrefixIndex::narrowed(Range range, size_t size, uint8_t byte) const {
  const auto next_byte = [size](const Entry& entry) {
    return entry.text.size() <= size ? -1
                                     : static_cast<int>(static_cast<uint8_t>(entry.text[size]));
  };
  const auto at = [this](size_t index) {
    return entries_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const auto begin = std::ranges::lower_bound(at(range.begin), at(range.end),
                                              static_cast<int>(byte), {}, next_byte);
  const auto end =
      std::ranges::upper_bound(begin, at(range.end), static_cast<int>(byte), {}, next_byte);
  return {static_cast<size_t>(begin - entries_.begin()),
          static_cast<size_t>(end - entries_.begin())};
}

}  // namespace vitrine
