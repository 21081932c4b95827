#include "runtime/core/sort.h"

#include <utility>

namespace vitrine {

void sort_items(void* items, size_t count, size_t item_bytes, ItemLess less, const void* context) {
  const auto at = [&](size_t i) { return static_cast<std::byte*>(items) + i * item_bytes; };
  // First, `root` goes from the last parent to 0 and builds the heap. Then the root, which is the
  // largest item, is swapped to the end repeatedly.
  size_t root = count / 2;
  size_t end = count;
  while (end > 1) {
    if (root > 0) {
      --root;
    } else {
      --end;
      for (size_t k = 0; k < item_bytes; ++k) std::swap(at(0)[k], at(end)[k]);
    }
    for (size_t parent = root, child; (child = 2 * parent + 1) < end; parent = child) {
      if (child + 1 < end && less(at(child), at(child + 1), context)) ++child;
      if (!less(at(parent), at(child), context)) break;
      for (size_t k = 0; k < item_bytes; ++k) std::swap(at(parent)[k], at(child)[k]);
    }
  }
}

}  // namespace vitrine
