// Joins uses of tensors into groups that share an observer.
#pragma once

#include "aot/quantize/annotations.h"

namespace vitrine::aot {

// Fills `groups` and `group_of` from `calls`.
void find_groups(const ExportedProgram& program, Annotations& annotations);

}  // namespace vitrine::aot
