#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/npy.h"
#include "vitrine/array.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// Input data: "a.bin" or, for a dynamic shape, "a.bin:2x16". "-" is standard input.
struct InputSpec {
  std::filesystem::path file;
  std::optional<std::vector<int32_t>> sizes;
};
// Parses an input of the command line. `option` is the option's name in errors. Throws ToolError.
InputSpec parse_input_spec(const std::string& text, const char* option);

// Throws ToolError unless the array's dtype and rank match `info`. `label` names the option and the
// file in errors.
Array to_input(const NumpyArray& array, size_t index, const TensorInfo& info,
               const std::string& label);

// Reads input `index` from a .npy file or from raw row-major elements. A .npy file must have the
// dtype and rank of `info`, and its sizes unless the shape is dynamic. Raw elements have the dtype
// of `info` and the sizes of `spec`, or else of `info`. Throws ToolError.
Array read_input(const InputSpec& spec, size_t index, const TensorInfo& info, const char* option);

}  // namespace vitrine::tools
