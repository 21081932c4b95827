// Reads input data from files that the command line names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vitrine/array.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// "a.bin" or, for an input smaller than its bound, "a.bin:2x16". "-" is standard input.
struct InputSpec {
  std::filesystem::path file;
  std::optional<std::vector<int32_t>> sizes;
};
// `option` is the name of the option in errors. Throws ToolError.
InputSpec parse_input_spec(const std::string& text, const char* option);

// Reads the file as input `index`, which has the dtype and sizes of `info`. Throws ToolError.
Array read_input(const InputSpec& spec, size_t index, const TensorInfo& info, const char* option);

}  // namespace vitrine::tools
