// Calls that run graphs: conditions and loops.
#pragma once

#include <cstddef>

#include "aot/graph/graph.h"

namespace vitrine::aot {

bool is_condition(const Node& node);
// The branches of a condition: if true, else.
const Graph& branch_of(const Node& condition, size_t which);

// A call that runs its body for each slice of its inputs along dim 0, in order.
//
//   map_impl(body, [xs], [others])      -> (rows): body(slices, others) -> rows
//   scan(body, [inits], [xs], [others]) -> (carries, rows):
//                                          body(carries, slices, others) -> (carries, rows)
struct Loop {
  const Graph* body = nullptr;
  ArgumentList inits;  // of what is carried from one run to the next
  ArgumentList xs;     // tensors, at least one
  ArgumentList others;
  ArgumentList results;  // of the body: what is carried, then the rows
};
bool is_loop(const Node& node);
// AotError if arguments and results do not fit each other.
Loop loop_of(const Node& node);

}  // namespace vitrine::aot
