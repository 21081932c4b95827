// Joins uses of tensors into groups. All uses in a group share an observer.
#pragma once

#include "aot/quantize/annotations.h"

namespace vitrine::aot {

// Computes the members `groups` and `group_of` of annotations from the member `calls`.
void find_groups(const ExportedProgram& program, Annotations& annotations);

}  // namespace vitrine::aot
