// Includes the header that declares llm::kernels() and the kernel tables of the other folders.
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
