// The functions that RESULT names in the operator table. Each describes the result of a call of its
// operator. They throw AotErrors that name invalid arguments.
#pragma once

#include "aot/shapes/call.h"

namespace vitrine::aot::results {

#define OP(signature, ...) __VA_ARGS__
#define RESULT(function) Value function(const Call& call);
#include "operators/operators.inc"

}  // namespace vitrine::aot::results
