// Interprets traces of XNNPACK's delegates: those of this backend (docs/formats/xnnpack_trace.md)
// and those of ExecuTorch, which contain kernel names instead of identifiers.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& xnnpack_profile();

}  // namespace vitrine
