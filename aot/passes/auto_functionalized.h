// Converts calls that write to arguments to PyTorch's auto_functionalized_v2 form, and back. Calls
// in this form do not write to arguments:
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
// True if the call writes to arguments. False for in-place forms such as "relu_".
bool writes_arguments(const Node& node);

// Inserts the auto_functionalized_v2 form of the call `node` before `node`.
Node& insert_auto_functionalized(Node& node);
// Inserts a getitem call before `at`. The getitem call selects result `index` of `call`.
Node& insert_getitem(Node& call, size_t index, Node& at);

bool is_auto_functionalized(const Node& node);
// Inserts the original call before `node`, which must be in auto_functionalized_v2 form. Sets
// `bases` to the written tensors in the order of their final values. Throws an AotError that names
// `node` if the arguments are malformed.
Node& insert_original_call(Node& node, std::vector<Node*>& bases);

}  // namespace vitrine::aot
