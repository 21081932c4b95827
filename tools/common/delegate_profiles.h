// Lists the delegate profiles that tools use. The list covers the backends of this build, known
// backends that Vitrine does not run, and backends that main() adds.
#pragma once

#include "inspector/join/delegate_profile.h"
#include "vitrine/backend.h"

namespace vitrine::tools {

// Adds a backend and its profile. Both must live until the process ends. Not thread-safe.
void add_backend(const BackendInterface& backend, const inspector::DelegateProfile& profile);

inspector::DelegateProfiles all_delegate_profiles();

}  // namespace vitrine::tools
