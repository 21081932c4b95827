// Includes the header that declares optimized::kernels() and the tables of the other kernel rooms.
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
