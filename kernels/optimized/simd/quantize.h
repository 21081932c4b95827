// Affine quantisation of runs of floats to bytes, and back.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// out = clamp(round(in * inverse) + zero_point, lowest, highest), ties to even, NaN as 0; the low
// byte of it, so that it serves int8 and uint8. All integers are below 2^22.
struct Quantization {
  float inverse;
  int32_t zero_point;
  int32_t lowest;
  int32_t highest;
};
void quantize(const float* in, const Quantization& quantization, uint8_t* out, int64_t count);

// out = clamp(round(in * inverse + zero_point), lowest, highest) in double, likewise.
struct ShiftedQuantization {
  double inverse;
  double zero_point;
  int32_t lowest;
  int32_t highest;
};
void quantize_shifted(const float* in, const ShiftedQuantization& quantization, uint8_t* out,
                      int64_t count);

// out = (in - zero_point) * scale
void dequantize(const uint8_t* in, int32_t zero_point, float scale, float* out, int64_t count);
void dequantize(const int8_t* in, int32_t zero_point, float scale, float* out, int64_t count);

}  // namespace vitrine::optimized::simd
