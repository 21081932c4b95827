// Parses an operator map, which the XNNPACK backend logs at load. It says which operator runs each
// node. The text is untrusted; docs/formats/xnnpack_trace.md describes its format.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"

namespace vitrine::xnnpack {

// See DelegateProfile::parse_operator_map.
inspector::OperatorMap parse_operator_map(std::string_view text);

}  // namespace vitrine::xnnpack
