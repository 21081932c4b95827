// Includes the header that declares portable::kernels() and the tables of the other kernel rooms.
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
