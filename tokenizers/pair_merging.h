// Byte-pair merging repeatedly joins the pair of neighbors with the lowest rank. A word of n
// symbols takes O(n log n) time.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "vitrine/tokenizer.h"

namespace vitrine {

struct Symbol {
  TokenId id;
  size_t begin;  // position of its bytes in the word
  size_t size;   // 0 if the symbol was merged into another symbol
  int64_t previous = -1;
  int64_t next = -1;
};

template <class Rank>
struct PairMerge {
  Rank rank;  // the lowest rank is merged first; ties: the leftmost pair
  TokenId id;
};

// Merges symbols in place. `find(left, right)` returns the PairMerge of two neighbors, or nullopt.
template <class Rank, class Find>
void merge_pairs(std::vector<Symbol>& symbols, Find find) {
  struct Candidate {
    Rank rank;
    int64_t left;
    TokenId id;
  };
  const auto comes_later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  const auto at = [&](int64_t index) -> Symbol& { return symbols[static_cast<size_t>(index)]; };
  std::vector<Candidate> candidates;
  const auto candidate_at = [&](int64_t left) -> std::optional<Candidate> {
    const std::optional<PairMerge<Rank>> merge = find(at(left), at(at(left).next));
    if (!merge) return std::nullopt;
    return Candidate{merge->rank, left, merge->id};
  };

  const auto count = static_cast<int64_t>(symbols.size());
  for (int64_t i = 0; i < count; ++i) {
    at(i).previous = i - 1;
    at(i).next = i + 1 < count ? i + 1 : -1;
  }
  for (int64_t i = 0; i + 1 < count; ++i) {
    if (const auto candidate = candidate_at(i)) candidates.push_back(*candidate);
  }
  std::priority_queue queue(comes_later, std::move(candidates));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = at(best.left);
    if (left.size == 0 || left.next < 0) continue;
    Symbol& right = at(left.next);
    // The neighbors may have changed since the pair was queued.
    const std::optional<PairMerge<Rank>> merge = find(left, right);
    if (!merge || merge->id != best.id) continue;
    left.id = best.id;
    left.size += right.size;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0) at(left.next).previous = best.left;
    if (left.previous >= 0) {
      if (const auto candidate = candidate_at(left.previous)) queue.push(*candidate);
    }
    if (left.next >= 0) {
      if (const auto candidate = candidate_at(best.left)) queue.push(*candidate);
    }
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.size == 0; });
}

}  // namespace vitrine
