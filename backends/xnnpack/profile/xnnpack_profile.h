// How traces of XNNPACK's delegates are read: our own (docs/formats/xnnpack_trace.md), and
// ExecuTorch's, which have kernel names instead of identifiers.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Lives as long as the process.
const inspector::DelegateProfile& xnnpack_profile();

}  // namespace vitrine
