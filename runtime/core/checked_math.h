// Overflow-checked arithmetic for numbers that come from files. True on overflow, as the builtins.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace vitrine {

template <std::integral A, std::integral B, std::integral R>
[[nodiscard]] constexpr bool add_overflows(A a, B b, R* result) {
  return __builtin_add_overflow(a, b, result);
}

template <std::integral A, std::integral B, std::integral R>
[[nodiscard]] constexpr bool mul_overflows(A a, B b, R* result) {
  return __builtin_mul_overflow(a, b, result);
}

// Whether [offset, offset + size) lies inside [0, limit), with no wrap-around.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

// `alignment` is a power of two; the caller knows that `value` is far from the type's end.
[[nodiscard]] constexpr size_t round_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace vitrine
