// Parses SymPy's srepr text into an Expression.
#pragma once

#include <string_view>

#include "aot/graph/symbolic.h"

namespace vitrine::aot {

// Parses "Add(Symbol('s0', positive=True, integer=True), Integer(-1))" without evaluation. Throws
// ImportErrors, without the file name, for invalid text and more than 64 levels of nesting.
Expression::Pointer parse_expression(std::string_view text);

}  // namespace vitrine::aot
