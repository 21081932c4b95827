// Includes the header that declares llm::kernels() and the tables of the other kernel folders.
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
