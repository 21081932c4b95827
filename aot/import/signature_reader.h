// The GraphSignature struct of torch.export's schema.
#pragma once

#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/import/graph_reader.h"

namespace vitrine::aot {

// For each input spec the name of a literal input, or nothing.
std::vector<InputNames> read_input_names(const JsonValue& input_specs);
// `graph` has been read.
GraphSignature read_signature(const JsonValue& signature, GraphReader& graph);

}  // namespace vitrine::aot
