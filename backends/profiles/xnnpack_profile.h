// Interprets traces of XNNPACK delegates. Vitrine's backend logs identifiers
// (docs/formats/xnnpack_trace.md). ExecuTorch's backend logs kernel names.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& xnnpack_profile();

}  // namespace vitrine
