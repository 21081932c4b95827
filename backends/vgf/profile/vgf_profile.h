// Interprets the events of VGF delegates in traces of ExecuTorch's runtime: phases of a call.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& vgf_profile();

}  // namespace vitrine
