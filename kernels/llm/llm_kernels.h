// Declares llm::kernels(), next to the tables of the other kernel rooms.
#pragma once

#include "vitrine/kernels.h"  // IWYU pragma: export
