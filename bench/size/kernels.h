// The kernels of a measured program.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::size {

Error add_kernels(KernelRegistry& kernels);

}  // namespace vitrine::size
