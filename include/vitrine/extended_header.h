// The header that a program with segments carries after its flatbuffer identifier.
// Format: docs/formats/program.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/error.h"

namespace vitrine {

inline constexpr size_t kProgramHeadBytes = 64;

struct ExtendedHeader {
  uint64_t program_size;       // flatbuffer and headers, from the start of the file
  uint64_t segment_base;       // file offset of segment 0; 0: no segments
  uint64_t segment_data_size;  // 0: unknown (before ExecuTorch 1.0)
};

// `head`: the beginning of the file. Empty if the magic is not there: then the whole file is the
// flatbuffer. InvalidProgram if it is there but too short.
Result<std::optional<ExtendedHeader>> read_extended_header(
    std::span<const std::byte, kProgramHeadBytes> head);

}  // namespace vitrine
