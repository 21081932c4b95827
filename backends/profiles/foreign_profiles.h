// Interprets the events of delegates that Vitrine does not run, in traces of ExecuTorch's runtime.
// Each function returns a profile that exists for the lifetime of the process.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace vitrine {

// Core ML measures the whole call and distributes its time over the operators by estimated costs.
const inspector::DelegateProfile& core_ml_profile();
// Ethos-U and VGF log the phases of a call.
const inspector::DelegateProfile& ethos_u_profile();
const inspector::DelegateProfile& vgf_profile();
// Neutron logs the ticks of kernels.
const inspector::DelegateProfile& neutron_profile();
// QNN logs the cycles of each operator. It also measures the whole call, in other units.
const inspector::DelegateProfile& qnn_profile();
// Vulkan logs two kinds of events: phases of a call on the CPU, and shader dispatches. The times of
// dispatches come from the GPU's clock.
const inspector::DelegateProfile& vulkan_profile();

}  // namespace vitrine
