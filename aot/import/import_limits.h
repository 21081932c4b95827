// Limits that the readers of all model formats share.
#pragma once

#include <cstddef>

namespace vitrine::aot {

inline constexpr int kMaxGraphDepth = 16;
inline constexpr size_t kMaxTargetLength = 256;
inline constexpr size_t kMaxRank = 64;

}  // namespace vitrine::aot
