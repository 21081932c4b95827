// Parses the operator map that the XNNPACK backend logs when it loads a payload. The text is
// untrusted. Format: docs/formats/xnnpack_trace.md.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"

namespace vitrine::xnnpack {

inspector::OperatorMap parse_operator_map(std::string_view text);

}  // namespace vitrine::xnnpack
