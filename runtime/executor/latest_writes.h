// When each place of a row was last written: a segment tree, so that a write to many places, and a
// question about many, take a logarithm of their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine {

class LatestWrites {
 public:
  static constexpr size_t kWordsPerPlace = 3;

  LatestWrites() = default;
  // `words`: kWordsPerPlace for each place, zeroed, not owned.
  explicit LatestWrites(std::span<uint32_t> words)
      : places_(words.size() / kWordsPerPlace),
        latest_(words.first(2 * places_)),
        of_all_(words.subspan(2 * places_)) {}

  // Places [begin, end), not empty. `time` is at least that of all writes before.
  void write(size_t begin, size_t end, uint32_t time);
  // The time of the latest write to any of these places (at least one place); 0: none.
  uint32_t latest(size_t begin, size_t end) const;

 private:
  void write_node(size_t node, uint32_t time);

  // Node 1 is the root, node n has the children 2n and 2n + 1, the last `places_` are the places.
  size_t places_ = 0;
  std::span<uint32_t> latest_;  // of writes to any place below a node
  std::span<uint32_t> of_all_;  // of writes to all places below an inner node
};

}  // namespace vitrine
