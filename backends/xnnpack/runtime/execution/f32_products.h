// Computes the last columns of f32 matrix products with AVX-512, if these columns fill at most half
// of a tile. XNNPACK's kernels always compute whole tiles of 32 columns, so 48 columns take as long
// as 64 columns. The sums are added in the same order as in XNNPACK's kernels, so results do not
// change.
#pragma once

namespace vitrine::xnnpack {

// Makes XNNPACK use these products if its tiles have 7 rows and 32 columns. Call after XNNPACK is
// initialized and before other threads use it.
void use_narrow_f32_tails();

}  // namespace vitrine::xnnpack
