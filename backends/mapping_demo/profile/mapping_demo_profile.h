// How traces of the demo's delegates are read. A template: docs/writing_a_backend.md
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Lives as long as the process.
const inspector::DelegateProfile& mapping_demo_profile();

}  // namespace vitrine
