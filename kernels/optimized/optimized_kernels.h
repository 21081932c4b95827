// The table of optimised kernels: SIMD by the instruction set that the machine has, on the method's
// thread pool. Ask it before the portable ones, which it needs.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::optimized {

KernelTable kernels();

}  // namespace vitrine::optimized
