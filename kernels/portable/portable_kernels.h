// The table of this room's kernels, with those of the others.
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
