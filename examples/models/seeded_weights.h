// Generates pseudorandom weights that are equal on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

// Returns f32 weights: element i is center + spread * u, with u in [-1, 1) from a hash of the name,
// the seed and i.
TensorData seeded_weights(std::string_view name, uint64_t seed, std::vector<int64_t> sizes,
                          float spread, float center = 0);
// Returns int8 weights in [-127, 127].
TensorData seeded_bytes(std::string_view name, uint64_t seed, std::vector<int64_t> sizes);

}  // namespace vitrine::aot
