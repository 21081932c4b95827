// Computes the last columns of f32 matrix products with AVX-512 if they fill at most half of a
// tile. XNNPACK's kernels always compute whole tiles: a product with 48 columns takes as long as
// one with
// 64. The sums are added in the same order as in XNNPACK's kernels, so results do not change.
#pragma once

namespace vitrine::xnnpack {

// Makes XNNPACK use these products if its tiles have 7 rows and 32 columns. Call after XNNPACK is
// initialized and before other threads use it.
void use_narrow_f32_tails();

}  // namespace vitrine::xnnpack
