// Work in parallel: this room's kernels use what those that copy do.
#pragma once

#include "kernels/util/parallel.h"  // IWYU pragma: export
