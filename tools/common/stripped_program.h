// Removes the record that pte_lower stores in a program (docs/formats/program.md, "Records inside
// programs").
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "vitrine/program.h"

namespace vitrine::tools {

// Passes the program's bytes without the record to `sink`, piece by piece. `file` contains the
// bytes of `program`. Other segments keep their index, bytes and alignment, but may move. The
// program keeps the record's digest, so that tools recognize the record in another file.
//
// Returns the record, which is a part of `file`. Without a record, returns nullopt and does not
// call `sink`. Throws ToolError before the first call of `sink` if segments overlap or if the
// record's segment contains other data.
std::optional<std::span<const std::byte>> strip_record(
    const Program& program, std::span<const std::byte> file,
    const std::function<void(std::span<const std::byte>)>& sink);

}  // namespace vitrine::tools
