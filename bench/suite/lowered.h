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
  size_t changes = 0;  // that --optimize made
};

// Errors as aot::lower gives them.
LoweredFile write_lowered(aot::ExportedProgram program, Backend backend,
                          const aot::EmitOptions& emit, bool make_record,
                          const std::filesystem::path& file, bool optimise = false);

}  // namespace vitrine::bench
