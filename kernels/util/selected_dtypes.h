// The dtypes that kernels of this build take. This file says all of them; a build for chosen
// programs finds one of its own first (cmake/SelectOps.cmake).
#pragma once

#include <cstdint>

namespace vitrine {

// Bit n: ScalarType n.
constexpr uint32_t kSelectedDtypes = 0xffffffff;

}  // namespace vitrine
