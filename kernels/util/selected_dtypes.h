// The dtypes of this build's kernels: all dtypes. A selective build includes a generated file
// instead (cmake/SelectOps.cmake).
#pragma once

#include <cstdint>

namespace vitrine {

// Bit n is set if ScalarType n is selected.
constexpr uint32_t kSelectedDtypes = 0xffffffff;

}  // namespace vitrine
