// A call's arguments as its kernel takes them.
#pragma once

#include "aot/emit/method_tensors.h"
#include "operators/operator.h"

namespace vitrine::aot {

// AotError if the kernel has no parameter for an argument of the call. Where and how tensors are
// stored is exempt: the result's own description says it.
void check_arguments(const Node& node, const Operator& op);

// `given` by position (null: not), or by name, or the default. AotError if there is none.
Argument argument_for(const Node& node, const Argument* given, const OperatorArgument& to,
                      const MethodTensors& tensors);

}  // namespace vitrine::aot
