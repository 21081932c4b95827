// What the XNNPACK backend made of a delegate's graph, as it logs it once at load: which node runs
// as which operator. Text, specified in docs/formats/xnnpack_trace.md; untrusted.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"

namespace vitrine::xnnpack {

// See DelegateProfile::parse_plan.
inspector::DelegatePlan parse_plan(std::string_view text);

}  // namespace vitrine::xnnpack
