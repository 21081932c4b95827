// Compares the programs of two profiles.
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Describes the first difference between the programs of two profiles. Returns an empty text if the
// digests of the programs are equal, or if their method names, inputs, outputs, operators and
// amounts of work are equal. `device` was recorded on another machine, and `here` on this machine.
std::string program_difference(const inspector::Profile& device, const inspector::Profile& here);

}  // namespace vitrine::tools
