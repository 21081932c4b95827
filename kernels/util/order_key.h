// Converts elements to integers that compare in the same order.
#pragma once

#include <bit>
#include <cstdint>

namespace vitrine {

// The key of a NaN is the largest key.
inline constexpr int64_t kNanKey = INT64_MAX;

inline int64_t order_key(int64_t value) { return value; }

inline int64_t order_key(double value) {
  if (value != value) return kNanKey;
  const int64_t bits = std::bit_cast<int64_t>(value);
  // The key of a negative value is the negated key of its absolute value, so -0.0 and 0.0 have the
  // same key.
  return bits < 0 ? -(bits & INT64_MAX) : bits;
}

}  // namespace vitrine
