// What functionalisation makes of views: new calls in a view's place, and the inverse of each view.
#pragma once

#include <string_view>

#include "aot/graph/node.h"

namespace vitrine::aot {

// Inserts new calls before `at`, with its source; at the end of the graph, with the source of
// `view`.
Node* insert(Node& at, const Node& view, Target target, ArgumentList args, ArgumentMap kwargs,
             Value value);
// With the result that aot/shapes infers.
Node* make(Node& at, const Node& view, std::string_view target, ArgumentList args,
           ArgumentMap kwargs = {});
// Reads symbolic sizes from `like`.
Argument sizes_of(Node& at, const Node& view, Node& like);

// The value of `input` after `value` replaces its view.
using Inverse = Node* (*)(Node& at, const Node& view, Node& input, Node& value);
// AotError if a write through the view is not supported.
Inverse inverse_of(const Node& view);

}  // namespace vitrine::aot
