// Reads stored tensors as f32, and makes f32 tensors.
#pragma once

#include <vector>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

// True for f32, f16 and bf16.
bool is_float(ScalarType dtype);
// Returns the elements in row-major order. Throws AotError unless is_float(data.dtype).
std::vector<float> floats_of(const TensorData& data);
// Makes a tensor of the dtype, to which the values are rounded.
TensorData tensor_of(ScalarType dtype, std::vector<int64_t> sizes,
                     const std::vector<float>& values);

}  // namespace vitrine::aot
