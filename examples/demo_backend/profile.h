// Describes the demo backend for profiles: its name, and the source ops of its operators.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace demo {

// Returns the backend's DelegateProfile, which lives until the process ends.
const vitrine::inspector::DelegateProfile& profile();

}  // namespace demo
