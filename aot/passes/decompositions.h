// What operators are made of: the functions that DECOMPOSITION names in the operator table. Each
// replaces the call that it is given; AotErrors name the node and why it cannot.
#pragma once

#include "aot/passes/decomposition.h"

namespace vitrine::aot::decompositions {

#define OP(signature, ...) __VA_ARGS__
#define DECOMPOSITION(function) void function(Decomposition& to);
#include "operators/operators.inc"

// A call by another name of its operator (SAME_AS) -> a call of it.
void rename(Decomposition& to);

}  // namespace vitrine::aot::decompositions
