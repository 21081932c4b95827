// Includes the header that declares portable::kernels().
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
