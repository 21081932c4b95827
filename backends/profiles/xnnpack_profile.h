// Interprets traces of XNNPACK delegates. Events of Vitrine's backend have identifiers
// (docs/formats/xnnpack_trace.md); events of ExecuTorch's backend have kernel names instead.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& xnnpack_profile();

}  // namespace vitrine
