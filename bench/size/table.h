// The kernels that a program is measured with.
#pragma once

#include "runtime/kernel/kernel_registry.h"

namespace vitrine::size {

KernelTable kernels();

}  // namespace vitrine::size
