// Reads and checks the calls that run subgraphs: conditions and loops.
#pragma once

#include <cstddef>

#include "aot/graph/graph.h"

namespace vitrine::aot {

ArgumentList results_of(const Graph& graph);

bool is_condition(const Node& node);
// Returns the branch that runs if the condition is true (`index` 0) or false (`index` 1).
const Graph& branch_of(const Node& condition, size_t index);

// A loop that runs its body once for each index in dim 0 of the tensors `xs`, in order. The body
// gets the slices of `xs` at that index.
//
//   map_impl(body, [xs], [others])      -> (rows): body(slices, others) -> rows
//   scan(body, [inits], [xs], [others]) -> (carries, rows):
//                                          body(carries, slices, others) -> (carries, rows)
struct Loop {
  const Graph* body = nullptr;
  ArgumentList inits;    // initial values of the carries, which pass from one iteration to the next
  ArgumentList xs;       // tensors to loop over, at least one
  ArgumentList others;   // operands that each iteration gets unchanged
  ArgumentList results;  // results of the body: the carries, then the rows
};
bool is_loop(const Node& node);
// Throws AotError if the operands, the body and the results do not match.
Loop loop_of(const Node& node);
// True if the tensors `xs` of the loop may have zero rows.
bool may_be_empty(const Loop& loop, const RangeConstraints& ranges);

// A loop that repeats its body while its condition is true.
//
//   while_loop(condition, body, [inits], [others]) -> carries:
//       condition(carries, others) -> bool, body(carries, others) -> carries
struct WhileLoop {
  const Graph* condition = nullptr;
  const Graph* body = nullptr;
  ArgumentList inits;
  ArgumentList others;
  ArgumentList results;  // results of the body
  Argument test;         // result of the condition
};
bool is_while_loop(const Node& node);
WhileLoop while_loop_of(const Node& node);

}  // namespace vitrine::aot
