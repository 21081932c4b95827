// Overflow-checked arithmetic for numbers that come from files. True on overflow, as the builtins.
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

// The product of numbers that are not negative; nothing if one is, or on overflow.
[[nodiscard]] constexpr std::optional<int64_t> checked_product(
    std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (factor < 0 || mul_overflows(product, factor, &product)) return std::nullopt;
  }
  return product;
}

// The most bytes of one piece of memory: its addresses can be subtracted, and what is added for
// alignment and slack fits into a size_t. On 32 bits, numbers in files may be larger.
inline constexpr uint64_t kMostBytes = SIZE_MAX / 2 - 4095;

// Whether [offset, offset + size) lies inside [0, limit), with no wrap-around.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

// `alignment` is a power of two; the caller knows that `value` is far from the type's end.
[[nodiscard]] constexpr size_t round_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace vitrine
