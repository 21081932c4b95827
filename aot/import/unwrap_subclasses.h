// Replaces weights that are tensor subclasses with their inner tensors.
#pragma once

#include <map>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/import/saved_tensors.h"

namespace vitrine::aot {

// Replaces the placeholder of each subclass with placeholders of its accessed inner tensors. Inner
// tensor 1 of "fc.weight" becomes "fc.parametrizations.weight.original1", as in torch. The exported
// graph already contains the arithmetic on inner tensors. Throws an AotError that names the node if
// an inner tensor does not exist, or if a node uses the subclass itself.
void unwrap_subclasses(ExportedProgram& program,
                       const std::map<std::string, TensorSubclass, std::less<>>& subclasses);

}  // namespace vitrine::aot
