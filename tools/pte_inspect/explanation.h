#pragma once

#include <string>

#include "formats/etrecord/etrecord.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns each method's delegates and kernels in order, and the source ops of each delegate. The
// record must belong to the program.
std::string explanation_text(const Program& program, const etrecord::EtRecord& record);

}  // namespace vitrine::tools
