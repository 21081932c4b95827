// Which arguments torch 2.7 and earlier passed by keyword: their files do not say.
#pragma once

#include <string_view>

#include "aot/graph/target.h"

namespace vitrine::aot {

// Whether the operator's schema has the argument after its "*".
bool is_keyword_only(Target target, std::string_view argument);

}  // namespace vitrine::aot
