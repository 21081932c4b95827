// Helper functions for functionalize(). They insert calls and provide the inverse of each view
// operator.
#pragma once

#include <string_view>

#include "aot/graph/node.h"

namespace vitrine::aot {

// Inserts a call before `at`. The call gets the origin of `at` or, if `at` does not have one (at
// the end of the graph), the origin of `view`.
Node* insert(Node& at, const Node& view, Target target, ArgumentList args, ArgumentMap kwargs,
             Value value);
// Like insert(), but infers the result's spec with aot/operators.
Node* make(Node& at, const Node& view, std::string_view target, ArgumentList args,
           ArgumentMap kwargs = {});
// Returns the sizes of `like` as an argument. Inserts calls that read the symbolic sizes.
Argument sizes_of(Node& at, const Node& view, Node& like);

// A function that computes the value of `input` after `value` is written to its view.
using Inverse = Node* (*)(Node& at, const Node& view, Node& input, Node& value);
// Returns the inverse of the view's operator. Throws AotError if writes through the view are not
// supported.
Inverse inverse_of(const Node& view);

}  // namespace vitrine::aot
