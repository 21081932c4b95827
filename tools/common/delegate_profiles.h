// Delegate profiles for backends of this build, for known backends that Vitrine does not run, and
// for backends that main() adds.
#pragma once

#include "inspector/join/delegate_profile.h"
#include "vitrine/backend.h"

namespace vitrine::tools {

// Backend and profile must live until the process ends. Not thread-safe.
void add_backend(const BackendInterface& backend, const inspector::DelegateProfile& profile);

inspector::DelegateProfiles all_delegate_profiles();

}  // namespace vitrine::tools
