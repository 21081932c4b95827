// Replaces weights that are tensor subclasses with their inner tensors.
#pragma once

#include <map>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/import/saved_tensors.h"

namespace vitrine::aot {

// Replaces the placeholder of each subclass with one placeholder per inner tensor that the graph
// accesses. The new weights have torch's names: inner tensor 1 of "fc.weight" becomes
// "fc.parametrizations.weight.original1". The exported graph already contains the arithmetic on the
// inner tensors. Throws an AotError that names the node if a node accesses an inner tensor that
// does not exist, or uses a subclass without accessing an inner tensor.
void unwrap_subclasses(ExportedProgram& program,
                       const std::map<std::string, TensorSubclass, std::less<>>& subclasses);

}  // namespace vitrine::aot
