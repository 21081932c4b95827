// The functions in the DECOMPOSITION column of the operator table. Each function replaces a call to
// its operator. AotErrors name the node and the reason why the call cannot be decomposed.
#pragma once

#include "aot/operators/decomposition.h"

namespace vitrine::aot::decompositions {

#define OP(signature, ...) __VA_ARGS__
#define DECOMPOSITION(function) void function(Decomposition& to);
#include "operators/operators.inc"

// Replaces the call with a call to the operator in the table's SAME_AS column.
void rename(Decomposition& to);

}  // namespace vitrine::aot::decompositions
