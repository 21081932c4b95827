// The kernel behind each operator: its variant that writes to a tensor it is given.
#pragma once

#include <string>

#include "aot/graph/target.h"

namespace vitrine::aot {

bool has_out_variant(Target target);
// As instructions name it: "aten::add.out". AotError if none is known.
std::string out_variant(Target target);

}  // namespace vitrine::aot
