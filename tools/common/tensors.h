// Creates input tensors, reads the elements of tensors, and describes types.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "vitrine/array.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// Returns zeros with the dtype, sizes and dim order of `info`. Throws ToolError.
Array zeros_like(const TensorInfo& info);
// Fills a tensor with uniform numbers in [-1, 1). Integers and bools are 0 or 1.
void fill_random(Array& array, std::mt19937_64& generator);

// Returns the elements in row-major order. Throws ToolError if the tensor has no data.
std::vector<std::byte> row_major_bytes(const Tensor& tensor);

// Formats a dtype and sizes: "f32[1,3,224,224]".
std::string describe(const Tensor& tensor);
std::string describe(ScalarType dtype, std::span<const int32_t> sizes);

}  // namespace vitrine::tools
