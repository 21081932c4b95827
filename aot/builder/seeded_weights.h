// Weights by formula: the same on every machine and with every library.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

// Element i is center + spread * u, u in [-1, 1) from a hash of the name, the seed and i. f32.
TensorData seeded_weights(std::string_view name, uint64_t seed, std::vector<int64_t> sizes,
                          float spread, float center = 0);
// The same in int8: every value in [-127, 127].
TensorData seeded_bytes(std::string_view name, uint64_t seed, std::vector<int64_t> sizes);

}  // namespace vitrine::aot
