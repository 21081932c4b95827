// Compares the programs of two profiles.
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Describes how the programs of the two profiles differ. Returns an empty text if the programs are
// the same: if their digests are equal, or if their inputs, outputs, operators and work are equal.
// The profile `device` was recorded on another machine, and `here` on this machine.
std::string program_difference(const inspector::Profile& device, const inspector::Profile& here);

}  // namespace vitrine::tools
