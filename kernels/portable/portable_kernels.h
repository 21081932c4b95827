#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
