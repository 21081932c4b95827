#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Sets to[r * to_stride + c] = from[c * from_stride + r] for r < rows and c < columns. `from` and
// `to` must not overlap. Up to kMaxInterleaved columns are fast if `to` has no gaps.
constexpr int64_t kMaxInterleaved = 4;
void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
               int64_t columns);

}  // namespace vitrine::optimized::simd
