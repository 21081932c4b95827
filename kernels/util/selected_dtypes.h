// The dtypes that kernels of this build take. This file selects all; a selective build finds its
// own file first (cmake/SelectOps.cmake).
#pragma once

#include <cstdint>

namespace vitrine {

// Bit n: ScalarType n.
constexpr uint32_t kSelectedDtypes = 0xffffffff;

}  // namespace vitrine
