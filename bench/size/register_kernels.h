// The kernels that a measured program registers.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::size {

Error register_kernels(KernelRegistry& kernels);

}  // namespace vitrine::size
