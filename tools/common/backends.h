// The backends that tools run and profile: backends of this build, and backends that main() adds.
#pragma once

#include <string>

#include "inspector/join/delegate_profile.h"
#include "vitrine/backend.h"

namespace vitrine::tools {

// Loads a shared library of operators and backends (vitrine/extension.h). Throws ToolError.
void load_extension(const std::string& path);

// Adds a backend and its profile. Both must live until the process ends. Not thread-safe.
void add_backend(const BackendInterface& backend, const inspector::DelegateProfile& profile);

// Returns the backends of this build and the added ones. The reference stays valid until the
// process ends.
const BackendRegistry& all_backends();
inspector::DelegateProfiles all_delegate_profiles();

}  // namespace vitrine::tools
