#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/util/dtype_dispatch.h"

namespace vitrine {

// Converts as PyTorch does. Any non-zero value, including NaN, is true. From floating to integer
// types, a value is truncated to int64, which then wraps to the integer type. PyTorch leaves two
// cases undefined: here, NaN becomes 0, and values beyond int64 saturate before they wrap.
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

// Converts `count` elements. Strides are in elements. A from_stride of 0 repeats one element.
using ConvertRun = void (*)(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                            int64_t count);

// Returns the conversion between two REALHBBF16 dtypes. Null for other dtypes. A selective build
// also returns null if a dtype is neither selected nor Bool, Int, Long, Float or Double, or if the
// dtypes differ and neither dtype is selected.
ConvertRun convert_run(ScalarType from, ScalarType to);

// Number of elements in a conversion buffer on the stack.
inline constexpr int64_t kChunkLength = 128;
struct alignas(64) Chunk {
  static constexpr size_t kMaxElementSize = 8;  // bytes of the largest REALHBBF16 dtype
  std::byte bytes[static_cast<size_t>(kChunkLength) * kMaxElementSize];
};

// A conversion that may first round to an operator's common dtype, as PyTorch does.
class Conversion {
 public:
  // Values are first rounded to `middle` if `middle` is Half or BFloat16. Other values of `middle`
  // are ignored. Returns false if convert_run() does not support the conversion.
  [[nodiscard]] bool set(ScalarType from, ScalarType middle, ScalarType to);

  // True if elements need no conversion. False for Bool, whose bytes may have any value.
  bool identity() const { return identity_; }

  // Converts at most kChunkLength elements. Strides are as in ConvertRun.
  void run(const void* from, int64_t from_stride, void* to, int64_t to_stride,
           int64_t count) const {
    if (second_ == nullptr) return first_(from, from_stride, to, to_stride, count);
    run_both(from, from_stride, to, to_stride, count);
  }

 private:
  void run_both(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                int64_t count) const;

  ConvertRun first_ = nullptr;
  ConvertRun second_ = nullptr;
  bool identity_ = false;
};

}  // namespace vitrine
