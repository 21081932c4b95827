// Creates input tensors, reads the elements of tensors, and describes their types.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "vitrine/array.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// Returns a tensor of zeros with the dtype, sizes and dim order of an input or output. Throws
// ToolError.
Array zeros_like(const TensorInfo& info);
// Fills a tensor with uniform random numbers in [-1, 1). Integers and bools are 0 or 1.
void fill_random(Array& array, std::mt19937_64& generator);

// Returns the tensor's elements in row-major order. Throws ToolError if the tensor has no data.
std::vector<std::byte> row_major_bytes(const Tensor& tensor);

// Returns a tensor's dtype and sizes as text: "f32[1,3,224,224]".
std::string describe(const Tensor& tensor);
std::string describe(ScalarType dtype, std::span<const int32_t> sizes);

}  // namespace vitrine::tools
