// Operators that read or write a cache of keys or values, [batch, positions, heads, size].
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vitrine/method_meta.h"

namespace vitrine {

struct CacheOperator {
  std::string_view name;
  std::array<int, 2> written;  // the caches among its arguments; -1: none
  bool is_attention;           // reads caches, up to the token's position
  bool writes_at_position;     // a position past the cache is an error
  bool writes_all = false;     // of them, whatever the position
  int mask = -1;               // among its arguments; with one, it reads whole caches
};
inline constexpr CacheOperator kCacheOperators[] = {
    {"llama::custom_sdpa", {-1, -1}, true, false, false, 4},
    {"llama::custom_quantized_sdpa", {-1, -1}, true, false, false, 4},
    {"llama::sdpa_with_kv_cache", {3, 4}, true, true, false, 7},
    {"llama::update_cache", {1, -1}, false, true},
    {"llama::update_cache_with_indices", {1, -1}, false, false},
    {"aten::copy_", {0, -1}, false, false, true},
    {"aten::index_put_", {0, -1}, false, false},
};

// Null if the operator is none of them.
inline const CacheOperator* cache_operator(std::string_view name) {
  const auto* found = std::ranges::find(kCacheOperators, name, &CacheOperator::name);
  return found == std::end(kCacheOperators) ? nullptr : found;
}

// Whether the method changes what it keeps otherwise than by position: then a text that begins at
// position 0 sees what is left of the one before.
bool keeps_other_state(const MethodMeta& method);

// Positions of the shortest cache that the method writes by position; none if there is none, or if
// other operators write them.
std::optional<int64_t> cache_length(const MethodMeta& method);

}  // namespace vitrine
