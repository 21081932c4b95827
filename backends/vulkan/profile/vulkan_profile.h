// Interprets the events of Vulkan delegates in traces of ExecuTorch's runtime: phases of a call on
// the CPU, and shader dispatches with the times of the GPU's clock.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Returns the profile, which exists for the lifetime of the process.
const inspector::DelegateProfile& vulkan_profile();

}  // namespace vitrine
