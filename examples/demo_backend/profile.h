// Provides the names that the operators of the demo's delegates have in profiles.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace demo {

// Returns the backend's DelegateProfile, which lives until the process ends.
const vitrine::inspector::DelegateProfile& profile();

}  // namespace demo
