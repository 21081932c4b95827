// Reads NumPy arrays from .npy files (NumPy Enhancement Proposal 1) and .npz archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "vitrine/scalar_type.h"

namespace vitrine::tools {

struct NumpyArray {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;
  std::vector<std::byte> bytes;  // little-endian and row-major
};

// Reads an array. Accepts versions 1 to 3 of the format, C and Fortran order, and little-endian
// dtypes that tensors can have. Throws ToolError, whose text begins with `source`.
NumpyArray parse_npy(std::span<const std::byte> file, const std::string& source);

// Converts the sizes of the array to int32_t, the type of a tensor's sizes. If a size is too large,
// throws ToolError, whose text begins with `source`.
std::vector<int32_t> tensor_sizes(const NumpyArray& array, const std::string& source);

// Returns the arrays of an archive, keyed by name without ".npy". Throws ToolError and FormatError.
std::map<std::string, NumpyArray> read_npz(const std::filesystem::path& file);

}  // namespace vitrine::tools
