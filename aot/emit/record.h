// Writes ETRecords, which connect profiles of an emitted program to its source.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "aot/emit/emit.h"

namespace vitrine::aot {

using DebugInfo = std::map<std::string, MethodDebugInfo, std::less<>>;  // keyed by method

// Returns an ETRecord file (docs/formats/etrecord.md). `edge_programs` are the methods after
// to_edge and before lowering. `digest` identifies this program's embedded record.
std::vector<std::byte> write_record(const Methods& edge_programs, const DebugInfo& debug_info,
                                    const std::string& digest = {});

// Returns a shorter ETRecord for the program file. `methods` are the lowered methods.
std::vector<std::byte> write_embedded_record(const Methods& methods, const DebugInfo& debug_info);

}  // namespace vitrine::aot
