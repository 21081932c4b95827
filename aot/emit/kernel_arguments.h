// Matches the arguments of a call to the parameters of its kernel.
#pragma once

#include "aot/emit/method_tensors.h"
#include "operators/operator.h"

namespace vitrine::aot {

// Throws AotError if the kernel lacks a parameter for an argument of the call. Arguments that
// describe storage (dtype, layout, device) need not have a parameter.
void check_arguments(const Node& node, const Operator& op);

// Returns the argument for a parameter: the positional argument `given` unless it is null, else the
// keyword argument of that name, else the default. Throws AotError if none of the three exists.
Argument argument_for(const Node& node, const Argument* given, const OperatorArgument& to,
                      const MethodTensors& tensors);

}  // namespace vitrine::aot
