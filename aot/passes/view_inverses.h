// Helpers of functionalize(): inserting calls, and the inverse of each view operator.
#pragma once

#include <string_view>

#include "aot/graph/node.h"

namespace vitrine::aot {

// Inserts a call before `at`. The call has the origin of `at`, or that of `view` if `at` does not
// have one, as at the end of the graph.
Node* insert(Node& at, const Node& view, Target target, ArgumentList args, ArgumentMap kwargs,
             Value value);
// Like insert(), with the result that aot/shapes infers.
Node* make(Node& at, const Node& view, std::string_view target, ArgumentList args,
           ArgumentMap kwargs = {});
// The sizes of `like` as an argument. Inserts calls that read the symbolic sizes.
Argument sizes_of(Node& at, const Node& view, Node& like);

// Computes the value of `input` after a write of `value` to its view.
using Inverse = Node* (*)(Node& at, const Node& view, Node& input, Node& value);
// Throws AotError if writes through the view are not supported.
Inverse inverse_of(const Node& view);

}  // namespace vitrine::aot
