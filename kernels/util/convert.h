// Conversions between element types, one element at a time and by runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/util/dtype_dispatch.h"

namespace vitrine {

// As PyTorch converts: to Bool, non-zero (NaN included) is true; floating to integer truncates
// through int64 and then wraps. Cases that PyTorch leaves undefined are defined here: NaN becomes
// 0, and values beyond int64 saturate first.
template <class To, class From>
constexpr To convert(From value) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (value != value) return To(0);
    if (value >= From(0x1p63)) return static_cast<To>(INT64_MAX);
    if (value < From(-0x1p63)) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Converts `count` elements that lie `from_stride` apart (0: one element repeated) into elements
// that lie `to_stride` apart; strides in elements.
using ConvertRun = void (*)(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                            int64_t count);

// Null unless both dtypes are REALHBBF16; in a selective build also between two that are neither
// selected nor alike.
ConvertRun convert_run(ScalarType from, ScalarType to);

// Elements converted at a time by the machinery that works through buffers on the stack.
inline constexpr int64_t kChunkLength = 128;
struct alignas(64) Chunk {
  static constexpr size_t kMaxElementSize = 8;  // of REALHBBF16
  std::byte bytes[static_cast<size_t>(kChunkLength) * kMaxElementSize];
};

// A conversion, in two hops where PyTorch rounds values to an operator's common dtype in between.
class Conversion {
 public:
  // `middle` counts if it is Half or BFloat16. False if a dtype is not REALHBBF16.
  [[nodiscard]] bool set(ScalarType from, ScalarType middle, ScalarType to);

  // Whether elements can be used as they are. Never so for Bool, whose bytes may be anything.
  bool identity() const { return identity_; }

  // At most kChunkLength elements; strides as in ConvertRun.
  void run(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t count) const;

 private:
  ConvertRun first_ = nullptr;
  ConvertRun second_ = nullptr;
  bool identity_ = false;
};

}  // namespace vitrine
