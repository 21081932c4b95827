// Interprets the events of Core ML delegates in traces of ExecuTorch's runtime. Core ML measures
// the whole call and divides its time by estimated costs.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& core_ml_profile();

}  // namespace vitrine
