// The record inside a program, for profiles without a second file.
#pragma once

#include <optional>

#include "formats/etrecord/etrecord.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Reads the record that pte_lower put into the program (docs/formats/program.md). Empty if the
// program has none; FormatError if it is damaged.
std::optional<etrecord::EtRecord> embedded_record(const Program& program);

}  // namespace vitrine::tools
