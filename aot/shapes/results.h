// What operators result in: the functions that RESULT names in the operator table. Each is given a
// call of its operator and returns the value of its result; AotErrors name what is wrong with the
// arguments.
#pragma once

#include "aot/shapes/call.h"

namespace vitrine::aot::results {

#define OP(signature, ...) __VA_ARGS__
#define RESULT(function) Value function(const Call& call);
#include "operators/operators.inc"

}  // namespace vitrine::aot::results
