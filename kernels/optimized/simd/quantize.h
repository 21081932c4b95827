#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Sets out to the low byte of clamp(round(in * inverse) + zero_point, lowest, highest), for int8
// and uint8. Rounds ties to even. NaN counts as 0. The magnitudes of lowest - zero_point and
// highest - zero_point must be below 2^22.
struct Quantization {
  float inverse;
  int32_t zero_point;
  int32_t lowest;
  int32_t highest;
};
void quantize(const float* in, const Quantization& quantization, uint8_t* out, int64_t count);

// Each element of `out` is the low byte of clamp(round(in * inverse + zero_point), lowest,
// highest). Computes in double. Rounds ties to even. NaN counts as 0.
struct ShiftedQuantization {
  double inverse;
  double zero_point;
  int32_t lowest;
  int32_t highest;
};
void quantize_shifted(const float* in, const ShiftedQuantization& quantization, uint8_t* out,
                      int64_t count);

// Compute out = (in - zero_point) * scale.
void dequantize(const uint8_t* in, int32_t zero_point, float scale, float* out, int64_t count);
void dequantize(const int8_t* in, int32_t zero_point, float scale, float* out, int64_t count);

}  // namespace vitrine::optimized::simd
