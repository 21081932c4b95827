// Embedding tables of quantised rows.
#pragma once

#include <cstdint>
#include <optional>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::quantized {

// How a byte holds values: 8, 4 or 2 bits of each.
enum class Packing : uint8_t {
  kByte,   // one value, as the table's dtype says
  kBits4,  // two: the high nibble first, each plus 8
  kBits2,  // four: the lowest bits first, each plus 2
};

// out[i..., :] = (row indices[i...] of weight - zero point) * scale. `scales` is [rows] or
// [rows, groups], each group as many columns; zero points are of the same shape, null for none.
// Both may be of any floating dtype; indices are Int or Long. Resizes `out`, FLOATHBF16.
void look_up(KernelContext& context, const Tensor& weight, const Tensor& scales,
             const Tensor* zero_points, int64_t lowest, int64_t highest, const Tensor& indices,
             std::optional<ScalarType> dtype, Packing packing, Tensor& out);

}  // namespace vitrine::quantized
