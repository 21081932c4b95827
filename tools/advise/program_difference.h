#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Describes the first difference between the programs of two profiles. Returns an empty text if the
// digests are equal, or if method names, inputs, outputs, operators and amounts of work are equal.
// The profile `device` is from another machine, and the profile `here` is from this machine.
std::string program_difference(const inspector::Profile& device, const inspector::Profile& here);

}  // namespace vitrine::tools
