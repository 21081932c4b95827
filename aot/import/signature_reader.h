// Reads the GraphSignature struct of torch.export's schema.
#pragma once

#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/import/graph_reader.h"

namespace vitrine::aot {

// Returns the names of inputs that are literals, and an empty string for each other input.
std::vector<std::string> read_literal_names(const JsonValue& input_specs);
// Reads the signature. Precondition: graph.read() has returned.
GraphSignature read_signature(const JsonValue& signature, GraphReader& graph);

}  // namespace vitrine::aot
