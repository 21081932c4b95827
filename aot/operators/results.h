// Declares the functions that infer the results of calls. The RESULT column of the operator table
// names the function for each operator. Each function returns the specs of the results, or throws
// an AotError that names an invalid argument.
#pragma once

#include "aot/operators/call.h"

namespace vitrine::aot::results {

#define OP(signature, ...) __VA_ARGS__
#define RESULT(function) Value function(const Call& call);
#include "operators/operators.inc"

}  // namespace vitrine::aot::results
