// Files with the data of an input, as command lines name them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vitrine/array.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// "a.bin" or, for an input smaller than its bound, "a.bin:2x16".
struct InputSpec {
  std::filesystem::path file;
  std::optional<std::vector<int32_t>> sizes;
};
// `option` names the command line's in errors. Throws ToolError.
InputSpec parse_input_spec(const std::string& text, const char* option);

// Input `index`, which is `info`, from the file. Throws ToolError.
Array read_input(const InputSpec& spec, size_t index, const TensorInfo& info, const char* option);

}  // namespace vitrine::tools
