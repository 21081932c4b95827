// Calls that write to arguments, as calls that do not.
//
// PyTorch has a form for an operator that writes to other arguments than its first:
//
//   auto_functionalized_v2(llama.update_cache, value=..., start_pos=..., _cache_base_index=0,
//                          _all_bases=[cache]) -> (results..., the bases as they end)
#pragma once

#include <vector>

#include "aot/graph/node.h"
#include "operators/operator.h"

namespace vitrine::aot {

// The arguments that the operator writes, in order.
std::vector<const OperatorArgument*> written_arguments(const Operator& op);
// Whether the call writes to arguments in another way than aten's forms in place, "relu_", whose
// result is their first argument.
bool writes_arguments(const Node& node);

// Inserts the functional form of the call before it.
Node& auto_functionalized(Node& node);
// Selects a result of `call`; inserted before `at`.
Node& item_of(Node& call, size_t index, Node& at);

bool is_auto_functionalized(const Node& node);
// The call itself, inserted before its functional form; `bases` gets the arguments that it writes,
// in the order of the results. AotErrors name the node if it is not of this form.
Node& call_of_auto_functionalized(Node& node, std::vector<Node*>& bases);

}  // namespace vitrine::aot
