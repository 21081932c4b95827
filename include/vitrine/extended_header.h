// The extended header of a program file, which locates the segments after the flatbuffer.
//
// The header follows the flatbuffer identifier. Programs without segments do not have the header.
// Format: docs/formats/program.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/error.h"

namespace vitrine {

inline constexpr size_t kProgramHeadBytes = 64;

struct ExtendedHeader {
  uint64_t program_size;       // size of flatbuffer and headers, from the start of the file
  uint64_t segment_base;       // file offset of segment 0; 0 without segments
  uint64_t segment_data_size;  // 0 if unknown (files from before ExecuTorch 1.0)
};

// `head` is the beginning of the file. Returns nothing if the file does not have the header: the
// entire file is then the flatbuffer. Returns InvalidProgram if the header's length field is too
// small.
Result<std::optional<ExtendedHeader>> read_extended_header(
    std::span<const std::byte, kProgramHeadBytes> head);

}  // namespace vitrine
