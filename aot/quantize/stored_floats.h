// Converts stored float tensors to f32 values and back.
#pragma once

#include <vector>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

bool is_float(ScalarType dtype);
// Returns the elements of a tensor in row-major order. Throws AotError unless is_float(data.dtype).
std::vector<float> floats_of(const TensorData& data);
// Makes a tensor of the given dtype. Rounds the values to the dtype.
TensorData tensor_of(ScalarType dtype, std::vector<int64_t> sizes,
                     const std::vector<float>& values);

}  // namespace vitrine::aot
