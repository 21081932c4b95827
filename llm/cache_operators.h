// Operators on a cache of keys or values. A cache is a tensor of shape [batch, positions, heads,
// size].
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
  std::array<int, 2> written_args;  // indices of the written caches; -1 is unused
  bool is_attention;                // reads caches from position 0 to the token's position
  bool writes_at_position;          // rejects a position past the end of the cache
  bool writes_all = false;          // overwrites all positions
  int mask_arg = -1;                // index of the mask; a call with a mask reads all positions
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

// Returns the operator's entry in kCacheOperators, or null.
inline const CacheOperator* find_cache_operator(std::string_view name) {
  const auto* found = std::ranges::find(kCacheOperators, name, &CacheOperator::name);
  return found == std::end(kCacheOperators) ? nullptr : found;
}

// True if the method keeps state that is not indexed by position, such as the state of a
// convolution. A new text at position 0 does not overwrite such state.
bool keeps_other_state(const MethodMeta& method);

// Returns the number of positions of the shortest cache that an operator with `writes_at_position`
// writes. Returns an empty optional if the method does not have such a cache.
std::optional<int64_t> cache_length(const MethodMeta& method);

}  // namespace vitrine
