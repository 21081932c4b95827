// Converts between bf16 and fp32. XNNPACK computes bf16 values in fp32.
#pragma once

#include <cstddef>
#include <cstring>

#include "vitrine/half.h"

namespace vitrine::xnnpack {

// `from` need not be aligned.
inline void widen_bf16(const void* from, void* to, size_t count) {
  const auto* bytes = static_cast<const std::byte*>(from);
  auto* fp32 = static_cast<float*>(to);
  for (size_t i = 0; i < count; ++i) {
    BFloat16 value;
    std::memcpy(&value.bits, bytes + i * sizeof value, sizeof value);
    fp32[i] = value;
  }
}

// Rounds to nearest, ties to even.
inline void round_to_bf16(const void* from, void* to, size_t count) {
  const auto* fp32 = static_cast<const float*>(from);
  auto* bf16 = static_cast<BFloat16*>(to);
  for (size_t i = 0; i < count; ++i) bf16[i] = BFloat16(fp32[i]);
}

}  // namespace vitrine::xnnpack
