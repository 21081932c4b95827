// Models as programs on disk.
#pragma once

#include <filesystem>
#include <functional>

#include "aot/pipeline/lower.h"

namespace vitrine::bench {

enum class Backend : uint8_t { kNone, kXnnpack, kDynamicXnnpack };

struct LoweredFile {
  double flops = 0;  // of a run; 0 if unknown. Only with `make_record`
  size_t delegates = 0;
};

// Errors as aot::lower gives them.
LoweredFile write_lowered(aot::ExportedProgram program, Backend backend,
                          const aot::EmitOptions& emit, bool make_record,
                          const std::filesystem::path& file);

}  // namespace vitrine::bench
