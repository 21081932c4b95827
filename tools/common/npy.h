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

// Accepts versions 1 to 3 of the format, C and Fortran order, and little-endian dtypes of tensors.
// Throws a ToolError that begins with `source`.
NumpyArray parse_npy(std::span<const std::byte> file, const std::string& source);

// Converts the sizes to int32_t. Throws a ToolError that begins with `source` if a size is too
// large.
std::vector<int32_t> tensor_sizes(const NumpyArray& array, const std::string& source);

// Reads the arrays of an archive. The keys are names without ".npy". Throws ToolError and
// FormatError.
std::map<std::string, NumpyArray> read_npz(const std::filesystem::path& file);

}  // namespace vitrine::tools
