// Helpers of functionalize() that insert calls and provide the inverse of each view operator.
#pragma once

#include <string_view>

#include "aot/graph/node.h"

namespace vitrine::aot {

// Inserts a call before `at`, with the origin of `at`. At the end of the graph, uses the origin of
// `view`.
Node* insert(Node& at, const Node& view, Target target, ArgumentList args, ArgumentMap kwargs,
             Value value);
// Like insert(), but infers the result's spec with aot/operators.
Node* make(Node& at, const Node& view, std::string_view target, ArgumentList args,
           ArgumentMap kwargs = {});
// Returns a list of the sizes of `like`. Inserts calls before `at` that read the symbolic sizes.
Argument sizes_of(Node& at, const Node& view, Node& like);

// A function that computes the value that `input` has after a write of `value` to `view`.
using Inverse = Node* (*)(Node& at, const Node& view, Node& input, Node& value);
// Returns the inverse of a view operator. Throws AotError if writes through the view are not
// supported.
Inverse inverse_of(const Node& view);

}  // namespace vitrine::aot
