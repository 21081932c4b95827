// Overflow-checked arithmetic for numbers from files. Functions named *_overflows() return true on
// overflow.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace vitrine {

template <std::integral A, std::integral B, std::integral R>
[[nodiscard]] constexpr bool add_overflows(A a, B b, R* result) {
  return __builtin_add_overflow(a, b, result);
}

template <std::integral A, std::integral B, std::integral R>
[[nodiscard]] constexpr bool sub_overflows(A a, B b, R* result) {
  return __builtin_sub_overflow(a, b, result);
}

template <std::integral A, std::integral B, std::integral R>
[[nodiscard]] constexpr bool mul_overflows(A a, B b, R* result) {
  return __builtin_mul_overflow(a, b, result);
}

// Returns nothing on overflow or if a factor is negative.
[[nodiscard]] constexpr std::optional<int64_t> checked_product(
    std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (factor < 0 || mul_overflows(product, factor, &product)) return std::nullopt;
  }
  return product;
}

// Maximum size of a memory block. Below this limit, differences of two addresses in a block do not
// overflow, nor do sizes with added alignment and slack.
inline constexpr uint64_t kMaxBytes = SIZE_MAX / 2 - 4095;

// True if [offset, offset + size) is inside [0, limit). offset + size may overflow.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

// Rounds up to a multiple of `alignment`, a power of two. The result must fit into a size_t.
[[nodiscard]] constexpr size_t round_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace vitrine
