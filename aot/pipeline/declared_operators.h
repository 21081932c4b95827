// Custom operators, which are not in the operator table. A .pt2 file names them without a schema,
// so the user declares them with --operator.
#pragma once

#include <string_view>
#include <vector>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// Parses a signature for declared_operator(): "my::op(Tensor(a!) x, float y=1.0) -> Tensor". Throws
// AotError if it does not have this form, or if the table has the operator.
const Operator* parse_operator(std::string_view signature);

// Replaces the targets of calls of these operators by the declared operators, which have effects,
// default arguments and kernels. Results keep the shapes of the export. Throws AotError if no
// method calls an operator, or if one is declared twice.
void declare(const std::vector<const Operator*>& operators, Methods& methods);

}  // namespace vitrine::aot
