// Declares custom operators in the namespace my_ops.
//
//   my_ops::leaky_hardsigmoid.out(Tensor self, float slope, *, Tensor(a!) out) -> Tensor(a!)
//       Computes self / 6 + 0.5 for -3 <= self <= 3. Outside that range, continues this line
//       with the slope `slope`.
//       f32 and f16 in row-major order, any shape.
//   my_ops::subtract_median.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
//       Subtracts the lower median of each row (last dimension) from the elements of the row.
//       f32 in row-major order.
#pragma once

#include "vitrine/kernel_registry.h"

namespace my_ops {

// Returns the kernels, for KernelRegistry::add.
vitrine::KernelTable kernels();

}  // namespace my_ops
