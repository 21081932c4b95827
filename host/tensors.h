// What tools do with tensors: make inputs, take elements out, describe them.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "vitrine/array.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// Of the dtype, sizes and dim order of an input or output. Throws ToolError.
Array zeros_like(const TensorInfo& info);
// Floats uniform in [-1, 1), integers and bools 0 or 1 (valid as indices of most tables).
void fill_random(Array& array, std::mt19937_64& generator);

// The elements in row-major order, as files hold them. Throws ToolError if there are no data.
std::vector<std::byte> row_major_bytes(const Tensor& tensor);

// "f32[1,3,224,224]"
std::string describe(const Tensor& tensor);
std::string describe(ScalarType dtype, std::span<const int32_t> sizes);

}  // namespace vitrine::tools
