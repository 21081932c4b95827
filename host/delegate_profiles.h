// How traces of the backends of this build are read.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine::tools {

// Live for the process.
inspector::DelegateProfiles all_delegate_profiles();

}  // namespace vitrine::tools
