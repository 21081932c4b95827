// Fills tensors with one value.
#pragma once

#include <cstdint>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"

namespace vitrine {

// Every element of `out` becomes `value`. InvalidArgument if its dtype is not REALHBBF16 or cannot
// hold the value.
void fill(KernelContext& context, const Scalar& value, Tensor& out);

// Resizes `out` to `size` (int[] of a schema) first; false if it does not take that shape.
[[nodiscard]] bool resize_to(KernelContext& context, std::span<const int64_t> size, Tensor& out);

}  // namespace vitrine
