// Heap sort: little code, and O(n log n) time for any order of the n items. Not stable.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace vitrine {

// Sorts `count` items of `item_bytes` bytes. `less` gets two items and `context`.
using ItemLess = bool (*)(const void* a, const void* b, const void* context);
void sort_items(void* items, size_t count, size_t item_bytes, ItemLess less, const void* context);

template <class T, class Less>
void sort(std::span<T> items, const Less& less) {
  static_assert(std::is_trivially_copyable_v<T>);
  const ItemLess compare = [](const void* a, const void* b, const void* context) {
    return (*static_cast<const Less*>(context))(*static_cast<const T*>(a),
                                                *static_cast<const T*>(b));
  };
  constexpr size_t item_bytes = sizeof(T);  // NOLINT(*-sizeof-expression): T may be a pointer
  sort_items(items.data(), items.size(), item_bytes, compare, &less);
}

}  // namespace vitrine
