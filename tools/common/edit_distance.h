// Finds similar words for typing mistakes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::tools {

// Returns the Levenshtein distance.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Returns the word most similar to `unknown`, or an empty string if no word is similar.
template <class Words>
std::string_view nearest_word(const Words& words, std::string_view unknown) {
  std::string_view nearest;
  size_t min_distance = std::max<size_t>(2, unknown.size() / 3) + 1;
  for (const auto& word : words) {
    const size_t distance = edit_distance(unknown, word);
    if (distance >= min_distance) continue;
    min_distance = distance;
    nearest = word;
  }
  return nearest;
}

}  // namespace vitrine::tools
