// Reads a profile that report_json() wrote, to advise on it or to show it again.
#pragma once

#include <string>
#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Reads what read_profile() reads, and costs, delegate calls, memory, limits of the machine, and
// the times of loading. Omits the timeline, the memory plan, and Cost::is_float32. The shares of
// rows are between 0 and 1. `source` names the text in errors. Throws FormatError.
Profile read_whole_profile(std::string_view json, const std::string& source,
                           DelegateProfiles delegates);

}  // namespace vitrine::inspector
