// What joins a profile of an emitted program to its source: ETRecords, beside the program or in it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "aot/emit/emit.h"

namespace vitrine::aot {

using DebugInfo = std::map<std::string, MethodDebugInfo, std::less<>>;  // by method

// The bytes of an ETRecord (docs/formats/etrecord.md). `edge_programs` are the methods as to_edge
// left them, before lowering.
std::vector<std::byte> write_record(const Methods& edge_programs, const DebugInfo& debug_info);

// The same for a record inside the program: of methods that are lowered already, and short.
std::vector<std::byte> write_embedded_record(const Methods& methods, const DebugInfo& debug_info);

}  // namespace vitrine::aot
