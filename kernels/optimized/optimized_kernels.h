// Includes the header that declares optimized::kernels().
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
