// The functions that DECOMPOSITION names in the operator table. Each replaces a call of its
// operator. AotErrors name the node and the reason why the call has no decomposition.
#pragma once

#include "aot/decompose/decomposition.h"

namespace vitrine::aot::decompositions {

#define OP(signature, ...) __VA_ARGS__
#define DECOMPOSITION(function) void function(Decomposition& to);
#include "operators/operators.inc"

// Replaces an operator that is another name (SAME_AS) with the operator that it names.
void rename(Decomposition& to);

}  // namespace vitrine::aot::decompositions
