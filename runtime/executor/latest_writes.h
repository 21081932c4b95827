// LatestWrites records when each position of an array was last written.
//
// A segment tree: writes and queries of a range take O(log n) time for n positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine {

class LatestWrites {
 public:
  static constexpr size_t kWordsPerPosition = 3;

  LatestWrites() = default;
  // `words` has kWordsPerPosition zeroed elements for each position, and must outlive this object.
  explicit LatestWrites(std::span<uint32_t> words)
      : num_positions_(words.size() / kWordsPerPosition),
        latest_(words.first(2 * num_positions_)),
        latest_full_(words.subspan(2 * num_positions_)) {}

  // Records a write to positions [begin, end), which must not be empty. `time` must not decrease
  // from write to write.
  void write(size_t begin, size_t end, uint32_t time);
  // Returns the time of the latest write to any position in [begin, end), or 0 without a write. The
  // range must not be empty.
  uint32_t latest(size_t begin, size_t end) const;

 private:
  void write_node(size_t node, uint32_t time);

  // Node 1 is the root. Node n has the children 2n and 2n + 1. The last num_positions_ nodes are
  // the positions.
  size_t num_positions_ = 0;
  std::span<uint32_t> latest_;       // by node: latest write to any position below the node
  std::span<uint32_t> latest_full_;  // by inner node: latest write to all positions below the node
};

}  // namespace vitrine
