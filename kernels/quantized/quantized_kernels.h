// Includes the header that declares quantized::kernels().
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
