// Reads the record with the names of a program's ops, and checks that the record belongs to the
// program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the record that pte_lower wrote into the program (docs/formats/program.md), or nullopt.
// Throws FormatError if the record is damaged.
std::optional<etrecord::EtRecord> embedded_record(const Program& program);

// Returns the record in `file` or, if `file` is empty, the embedded record. Throws ToolError if
// `file` certainly belongs to another program. Adds a warning to `warnings` if this is uncertain.
// Rules: docs/formats/etrecord.md, "Does a record belong to a program?".
std::optional<etrecord::EtRecord> record_for_program(const Program& program,
                                                     const std::filesystem::path& file,
                                                     std::vector<std::string>& warnings);

// Describes the first contradiction, or returns an empty text. Does not compare digests.
std::string contradiction(const Program& program, const etrecord::EtRecord& record);

}  // namespace vitrine::tools
