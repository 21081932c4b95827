// Serializes the signature of an edge program as the JSON of ETRecords.
#pragma once

#include <nlohmann/json.hpp>

#include "aot/emit/source_values.h"
#include "aot/graph/exported_program.h"

namespace vitrine::aot {

nlohmann::ordered_json signature_json(const ExportedProgram& program, SourceValues& values);

}  // namespace vitrine::aot
