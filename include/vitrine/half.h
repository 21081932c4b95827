// Half (IEEE binary16) and BFloat16 are storage types of 2 bytes. Arithmetic converts them to
// float.
//
// Conversion from float rounds to nearest, ties to even. NaN stays NaN. Values that are too large
// become infinity.
#pragma once

#include <bit>
#include <cstdint>

namespace vitrine {

struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit constexpr BFloat16(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((f >> 16) | 0x40u);
    } else {
      bits = static_cast<uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
    }
  }
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): lossless
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit constexpr Half(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (f >> 16) & 0x8000u;
    const uint32_t magnitude = f & 0x7fffffffu;
    uint32_t result;
    if (magnitude > 0x7f800000u) {
      result = 0x7e00u;  // NaN
    } else if (magnitude >= 0x477ff000u) {
      result = 0x7c00u;  // rounds to 65536 or above
    } else if (magnitude < 0x38800000u) {
      // Adding 0.5 rounds a subnormal result to a multiple of 2^-24.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      result = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
    } else {
      result = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    }
    bits = static_cast<uint16_t>(sign | result);
  }
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): lossless
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1fu;
    const uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0) {
      const float value = static_cast<float>(mantissa) * 0x1p-24f;
      return sign != 0 ? -value : value;
    }
    const uint32_t high = exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23;
    return std::bit_cast<float>(sign | high | (mantissa << 13));
  }
};

}  // namespace vitrine
