// Counts the windows of a convolution or pooling along one dimension, with checked arithmetic.
//
// `Size` is int64_t, or a type with the operators + - * / and a constructor from int64_t, such as
// the symbolic sizes in aot/.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "runtime/core/checked_math.h"

namespace vitrine {

struct SlidingWindow {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t padding = 0;  // sum of the padding before and after the input
};

// Number of elements from the first to the last element of a window. Returns nothing on overflow or
// if kernel, stride or dilation is less than 1.
constexpr std::optional<int64_t> window_reach(const SlidingWindow& window) {
  int64_t reach = 0;
  if (window.kernel < 1 || window.stride < 1 || window.dilation < 1 ||
      mul_overflows(window.kernel - 1, window.dilation, &reach) ||
      add_overflows(reach, 1, &reach)) {
    return std::nullopt;
  }
  return reach;
}

// Number of windows over `size` elements. Returns nothing on overflow or if window_reach() returns
// nothing.
//
// If `ceil_mode` is true, the padding must be equal on both sides, and the last window may extend
// past the end of the input. A window that begins past the end does not count. For a symbolic
// `Size`, the result may be one too large.
template <class Size>
constexpr std::optional<Size> window_count(const SlidingWindow& window, const Size& size,
                                           bool ceil_mode = false) {
  const std::optional<int64_t> reach = window_reach(window);
  int64_t slack = 0;
  if (!reach || add_overflows(window.padding, -*reach, &slack)) return std::nullopt;
  const int64_t rounding = ceil_mode ? window.stride - 1 : 0;
  if constexpr (std::is_same_v<Size, int64_t>) {
    int64_t room = 0;
    if (add_overflows(size, slack, &room) || add_overflows(room, rounding, &room)) {
      return std::nullopt;
    }
    if (room < 0) return 0;
    const int64_t last = room / window.stride;
    const bool outside = ceil_mode && last * window.stride - window.padding / 2 >= size;
    return outside ? last : last + 1;
  } else {
    return (size + Size(slack) + Size(rounding)) / Size(window.stride) + Size(1);
  }
}

// Output size of a transposed convolution of `size` elements. The result may be negative. Returns
// nothing on overflow or if window_reach() returns nothing.
template <class Size>
constexpr std::optional<Size> transposed_size(const SlidingWindow& window, const Size& size,
                                              int64_t output_padding) {
  const std::optional<int64_t> reach = window_reach(window);
  int64_t rest = 0;
  if (!reach || add_overflows(*reach, output_padding, &rest) ||
      sub_overflows(rest, window.padding, &rest)) {
    return std::nullopt;
  }
  if constexpr (std::is_same_v<Size, int64_t>) {
    int64_t result = 0;
    if (sub_overflows(size, 1, &result) || mul_overflows(result, window.stride, &result) ||
        add_overflows(result, rest, &result)) {
      return std::nullopt;
    }
    return result;
  } else {
    return (size - Size(1)) * Size(window.stride) + Size(rest);
  }
}

}  // namespace vitrine
