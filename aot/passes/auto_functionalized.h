// Converts calls that write to their arguments into PyTorch's auto_functionalized_v2 form, and
// back. Calls in this form do not write.
//
// This form supports operators that write to arguments other than the first:
//
//   auto_functionalized_v2(llama.update_cache, value=..., start_pos=..., _cache_base_index=0,
//                          _all_bases=[cache]) -> (results..., final values of the bases...)
#pragma once

#include <vector>

#include "aot/graph/node.h"
#include "operators/operator.h"

namespace vitrine::aot {

// Returns the arguments to which the operator writes, in order.
std::vector<const OperatorArgument*> written_arguments(const Operator& op);
// True if the call writes to arguments. False for in-place forms such as "relu_", which write only
// to their first argument and return it.
bool writes_arguments(const Node& node);

// Inserts the auto_functionalized_v2 form of the call `node` before `node`.
Node& insert_auto_functionalized(Node& node);
// Inserts a getitem call before `at`. The getitem call selects the result of `call` at this index.
Node& insert_getitem(Node& call, size_t index, Node& at);

bool is_auto_functionalized(const Node& node);
// Inserts the original call before `node`, which must be a call in auto_functionalized_v2 form.
// Sets `bases` to the tensors to which the original call writes, in the order in which `node`
// returns their final values. Throws an AotError that names `node` if its arguments are malformed.
Node& insert_original_call(Node& node, std::vector<Node*>& bases);

}  // namespace vitrine::aot
