// Which of many strings a text begins with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

class PrefixIndex {
 public:
  struct Entry {
    std::string text;
    int64_t value;
  };

  // Empty strings are left out; of equal ones the first counts.
  explicit PrefixIndex(std::vector<Entry> entries = {});

  // visit(entry) for each one that `text` begins with, shortest first.
  template <class Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    if (text.empty()) return;
    const auto byte = static_cast<uint8_t>(text[0]);
    Range range{first_[byte], first_[byte + size_t{1}]};
    for (size_t size = 1; range.begin != range.end; ++size) {
      if (entries_[range.begin].text.size() == size) visit(entries_[range.begin]);
      if (size == text.size()) return;
      range = narrowed(range, size, static_cast<uint8_t>(text[size]));
    }
  }

 private:
  struct Range {
    size_t begin;
    size_t end;
  };
  // Among entries that agree on `size` bytes, those that have this one next.
  Range narrowed(Range range, size_t size, uint8_t byte) const;

  std::vector<Entry> entries_;          // in order of their texts
  std::array<size_t, 257> first_ = {};  // where entries with this first byte begin
};

}  // namespace vitrine
