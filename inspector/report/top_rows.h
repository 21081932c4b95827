#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace vitrine::inspector {

// Returns the indices of the `top` rows with the smallest key(index), in ascending order. If `top`
// is 0, returns all indices below `count`. In a tie, the lower index wins. Keys must not be NaN.
template <class Key>
std::vector<size_t> top_rows(size_t count, size_t top, Key key) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  if (top == 0 || top >= count) return order;
  std::ranges::stable_sort(order, {}, key);
  order.resize(top);
  std::ranges::sort(order);
  return order;
}

}  // namespace vitrine::inspector
