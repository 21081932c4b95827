// Functions that infer the results of calls, from the RESULT column of the operator table. Each
// function returns specs, or throws an AotError that names an invalid argument.
#pragma once

#include "aot/operators/call.h"

namespace vitrine::aot::results {

#define OP(signature, ...) __VA_ARGS__
#define RESULT(function) Value function(const Call& call);
#include "operators/operators.inc"

}  // namespace vitrine::aot::results
