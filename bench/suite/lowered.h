#pragma once

#include <filesystem>
#include <functional>

#include "aot/pipeline/lower.h"

namespace vitrine::bench {

enum class Backend : uint8_t { kNone, kXnnpack, kDynamicXnnpack };

struct LoweredFile {
  double flops = 0;  // floating-point operations of a run; 0 if unknown or without `make_record`
  size_t delegates = 0;
  size_t changes = 0;  // the number of optimizations of the graph
};

// Writes the lowered program to `file`. Throws the errors of aot::lower.
LoweredFile write_lowered(aot::ExportedProgram program, Backend backend,
                          const aot::EmitOptions& emit, bool make_record,
                          const std::filesystem::path& file, bool optimize = false);

}  // namespace vitrine::bench
