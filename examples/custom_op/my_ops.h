// Operators of our own: namespace my_ops.
//
//   my_ops::leaky_hardsigmoid.out(Tensor self, float slope, *, Tensor(a!) out) -> Tensor(a!)
//       self / 6 + 0.5 for -3 <= self <= 3; outside that range it continues with `slope`.
//       Floating dtypes, any shape and dim order.
//   my_ops::subtract_median.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
//       Subtracts from each row (last dimension) its lower median. f32 in row-major order.
#pragma once

#include "vitrine/kernel_registry.h"

namespace my_ops {

// For KernelRegistry::add.
vitrine::KernelTable kernels();

}  // namespace my_ops
