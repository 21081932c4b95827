// Explains which source ops each delegate of a program runs.
#pragma once

#include <string>

#include "formats/etrecord/etrecord.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns a text with each method's delegates and kernels in order. Lists the source ops that each
// delegate runs. The record must belong to the program.
std::string explanation_text(const Program& program, const etrecord::EtRecord& record);

}  // namespace vitrine::tools
