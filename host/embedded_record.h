// The record that a program keeps of itself, for profiles without a second file.
#pragma once

#include <optional>

#include "formats/etrecord/etrecord.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// What pte_lower put into the program (docs/formats/program.md). Empty if there is none; an
// FormatError if it is damaged.
std::optional<etrecord::EtRecord> embedded_record(const Program& program);

}  // namespace vitrine::tools
