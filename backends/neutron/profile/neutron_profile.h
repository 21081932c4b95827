// Interprets the events of Neutron delegates in traces of ExecuTorch's runtime: ticks of kernels.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& neutron_profile();

}  // namespace vitrine
