#include "runtime/executor/latest_writes.h"

#include <algorithm>

namespace vitrine {

void LatestWrites::write_node(size_t node, uint32_t time) {
  latest_[node] = time;
  if (node < num_positions_) latest_full_[node] = time;
}

void LatestWrites::write(size_t begin, size_t end, uint32_t time) {
  size_t left = begin + num_positions_;
  size_t right = end + num_positions_;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 != 0) write_node(left++, time);
    if (right % 2 != 0) write_node(--right, time);
  }
  // No earlier write has a later time, so `time` replaces the times of all ancestors.
  for (size_t node = (begin + num_positions_) / 2; node > 0; node /= 2) latest_[node] = time;
  for (size_t node = (end - 1 + num_positions_) / 2; node > 0; node /= 2) latest_[node] = time;
}

uint32_t LatestWrites::latest(size_t begin, size_t end) const {
  uint32_t found = 0;
  size_t left = begin + num_positions_;
  size_t right = end + num_positions_;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 != 0) found = std::max(found, latest_[left++]);
    if (right % 2 != 0) found = std::max(found, latest_[--right]);
  }
  for (size_t node = (begin + num_positions_) / 2; node > 0; node /= 2) {
    found = std::max(found, latest_full_[node]);
  }
  for (size_t node = (end - 1 + num_positions_) / 2; node > 0; node /= 2) {
    found = std::max(found, latest_full_[node]);
  }
  return found;
}

}  // namespace vitrine
