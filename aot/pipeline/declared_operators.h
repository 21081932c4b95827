// Operators that the table does not have: custom ones, which a .pt2 file names without a schema.
#pragma once

#include <string_view>
#include <vector>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// "my::op(Tensor(a!) x, float y=1.0) -> Tensor", as declared_operator() takes it. AotError if it is
// not of this form, or the table has the operator.
const Operator* parse_operator(std::string_view signature);

// Gives the methods' calls of these operators their effects, the defaults of their arguments and
// their kernels; shapes of results stay those of the export. AotError if an operator is called
// nowhere, or declared twice.
void declare(const std::vector<const Operator*>& operators, Methods& methods);

}  // namespace vitrine::aot
