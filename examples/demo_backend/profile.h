// Names the operators of the demo's delegates in profiles.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace demo {

// Returns the profile, which lives until the process ends.
const vitrine::inspector::DelegateProfile& profile();

}  // namespace demo
