// The dtypes that kernels of this build support. This file selects all dtypes. A selective build
// includes a generated file instead (cmake/SelectOps.cmake).
#pragma once

#include <cstdint>

namespace vitrine {

// Bit n is set if ScalarType n is selected.
constexpr uint32_t kSelectedDtypes = 0xffffffff;

}  // namespace vitrine
