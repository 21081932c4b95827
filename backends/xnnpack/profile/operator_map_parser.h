// Parses an operator map, which the XNNPACK backend logs at load: which node runs as which
// operator. The text is untrusted; its format is docs/formats/xnnpack_trace.md.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"

namespace vitrine::xnnpack {

// See DelegateProfile::parse_operator_map.
inspector::OperatorMap parse_operator_map(std::string_view text);

}  // namespace vitrine::xnnpack
