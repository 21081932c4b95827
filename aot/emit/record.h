// Writes ETRecords, which connect profiles of an emitted program to its source. A record is a
// separate file or a part of the program.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "aot/emit/emit.h"

namespace vitrine::aot {

using DebugInfo = std::map<std::string, MethodDebugInfo, std::less<>>;  // keyed by method

// Returns the bytes of an ETRecord (docs/formats/etrecord.md). `edge_programs` are the methods
// after to_edge and before lowering. `digest` is the digest of the record that
// write_embedded_record() returns for this program.
std::vector<std::byte> write_record(const Methods& edge_programs, const DebugInfo& debug_info,
                                    const std::string& digest = {});

// Returns the bytes of a shorter ETRecord, which the program file can contain. `methods` are the
// lowered methods.
std::vector<std::byte> write_embedded_record(const Methods& methods, const DebugInfo& debug_info);

}  // namespace vitrine::aot
