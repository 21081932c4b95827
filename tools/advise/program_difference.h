// Compares the programs of two profiles.
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Returns "" if the profiles `device`, recorded elsewhere, and `here` are of the same program; else
// says how the programs differ. Programs are the same if their digests are equal, or if their
// inputs, outputs, operators and work are.
std::string program_difference(const inspector::Profile& device, const inspector::Profile& here);

}  // namespace vitrine::tools
