// The functions that RESULT names in the operator table. Each function returns the specs of the
// results of a call to its operator, or throws an AotError that names an invalid argument.
#pragma once

#include "aot/operators/call.h"

namespace vitrine::aot::results {

#define OP(signature, ...) __VA_ARGS__
#define RESULT(function) Value function(const Call& call);
#include "operators/operators.inc"

}  // namespace vitrine::aot::results
