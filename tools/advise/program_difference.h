// Compares the programs of two profiles.
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Returns how the programs of the two profiles differ, or an empty text if they are the same
// program. `device` was recorded on another machine. Programs are the same if their digests are
// equal, or if their inputs, outputs, operators and work are equal.
std::string program_difference(const inspector::Profile& device, const inspector::Profile& here);

}  // namespace vitrine::tools
