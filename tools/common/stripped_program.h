// Removes the record that pte_lower stores in a program (docs/formats/program.md, "Records inside
// programs").
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "vitrine/program.h"

namespace vitrine::tools {

// Passes the bytes of a program without its record to `sink`, piece by piece. `file` has the bytes
// of `program`. Segments keep their index, bytes and alignment; those after the record move toward
// the start. The program keeps the record's digest, so that tools recognize the record in another
// file.
//
// Returns the record's bytes in `file`. If the program does not contain a record, returns nullopt
// and passes nothing. Throws ToolError, before it passes anything, if segments overlap or other
// data is in the record's segment.
std::optional<std::span<const std::byte>> strip_record(
    const Program& program, std::span<const std::byte> file,
    const std::function<void(std::span<const std::byte>)>& sink);

}  // namespace vitrine::tools
