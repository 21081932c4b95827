// The table of portable kernels: the reference of every op.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::portable {

KernelTable kernels();

}  // namespace vitrine::portable
