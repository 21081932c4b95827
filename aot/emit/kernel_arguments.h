// A call's arguments as its kernel takes them.
#pragma once

#include "aot/emit/method_tensors.h"
#include "operators/operator.h"

namespace vitrine::aot {

// What has no place in the kernel's arguments must not be lost, but for where and how tensors are
// stored, which the result's own description tells. AotError otherwise.
void check_arguments(const Node& node, const Operator& op);

// `given` by position (null: not), or by name, or the default. AotError if there is none.
Argument argument_for(const Node& node, const Argument* given, const OperatorArgument& to,
                      const MethodTensors& tensors);

}  // namespace vitrine::aot
