// Weights that are tensor subclasses -> the tensors that they are made of.
#pragma once

#include <map>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/import/saved_tensors.h"

namespace vitrine::aot {

// A placeholder for each part that the graph takes out of a subclass, in the place of the
// subclass's own, under torch's name for it: part 1 of "fc.weight" is the parameter
// "fc.parametrizations.weight.original1". The exported graph has the arithmetic on the parts
// already. AotErrors name the node that takes a part that is not there, or the whole subclass.
void unwrap_subclasses(ExportedProgram& program,
                       const std::map<std::string, TensorSubclass, std::less<>>& subclasses);

}  // namespace vitrine::aot
