// Parses an operator map. The XNNPACK backend logs the map at load to say which operator runs each
// node. The text is untrusted. docs/formats/xnnpack_trace.md describes the format.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"

namespace vitrine::xnnpack {

// See DelegateProfile::parse_operator_map.
inspector::OperatorMap parse_operator_map(std::string_view text);

}  // namespace vitrine::xnnpack
