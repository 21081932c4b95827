// Parses SymPy's srepr text into an Expression.
#pragma once

#include <string_view>

#include "aot/graph/symbolic.h"

namespace vitrine::aot {

// Parses text such as "Add(Symbol('s0', positive=True, integer=True), Integer(-1))" without
// evaluating it. Throws an ImportError for invalid text, and for more than 64 levels of nesting.
// The error does not name the file.
Expression::Pointer parse_expression(std::string_view text);

}  // namespace vitrine::aot
