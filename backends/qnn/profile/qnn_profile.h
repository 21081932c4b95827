// Interprets the events of QNN delegates in traces of ExecuTorch's runtime: cycles of operators,
// and figures with other units.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& qnn_profile();

}  // namespace vitrine
