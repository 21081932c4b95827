// Reads a profile that report_json() wrote, to give advice on the program or to show the profile
// again.
#pragma once

#include <string>
#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Reads the facts of read_profile(), and also costs, delegate calls, memory, limits of the machine,
// and the times of loading. Omits the timeline, the memory plan, and Cost::is_float32. The shares
// of rows are between 0 and 1. `source` names the text in errors. Throws FormatError.
Profile read_whole_profile(std::string_view json, const std::string& source,
                           DelegateProfiles delegates);

}  // namespace vitrine::inspector
