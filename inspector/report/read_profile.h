// Reads a profile that report_json() wrote, to compare it with another profile.
#pragma once

#include <string>
#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Reads the rows with their time in each run, and the facts that comparisons show. Omits costs,
// groups, delegate calls and the timeline. `source` names the text in errors. Throws FormatError if
// the text is not a profile or lacks the times of runs.
Profile read_profile(std::string_view json, std::string source, DelegateProfiles delegates);

}  // namespace vitrine::inspector
