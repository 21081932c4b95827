// Registers the kernels of a measured executable.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::size {

Error register_kernels(KernelRegistry& kernels);

}  // namespace vitrine::size
