// Computes the last columns of f32 matrix products with AVX-512, if they fill at most half of a
// tile. XNNPACK always computes whole tiles of 32 columns, so 48 columns take as long as 64.
// Results do not change: the order of the sums is the same.
#pragma once

namespace vitrine::xnnpack {

// Makes XNNPACK use these products if its tiles have 7 rows and 32 columns. Call after XNNPACK is
// initialized and before other threads use it.
void use_narrow_f32_tails();

}  // namespace vitrine::xnnpack
