// Interprets the events of Ethos-U delegates in traces of ExecuTorch's runtime: phases of a call.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& ethos_u_profile();

}  // namespace vitrine
