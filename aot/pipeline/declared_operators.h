// Declares custom operators, which are not in the operator table. A .pt2 file contains their names
// but not their schemas, so the user declares them with --operator.
#pragma once

#include <string_view>
#include <vector>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// Declares an operator with a signature such as "my::op(Tensor(a!) x, float y=1.0) -> Tensor".
// Throws AotError if the signature is invalid, or if the operator is in the operator table.
const Operator* parse_operator(std::string_view signature);

// Makes each declared operator the target of its calls. Results keep their shapes from the export.
// Throws AotError if an operator is declared twice or is never called.
void declare(const std::vector<const Operator*>& operators, Methods& methods);

}  // namespace vitrine::aot
