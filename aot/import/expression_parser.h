// SymPy's srepr text -> Expression.
#pragma once

#include <string_view>

#include "aot/graph/symbolic.h"

namespace vitrine::aot {

// "Add(Symbol('s0', positive=True, integer=True), Integer(-1))". Never evaluates anything. Throws
// ImportError (without a place) on what it does not understand and on more than 64 levels.
Expression::Pointer parse_expression(std::string_view text);

}  // namespace vitrine::aot
