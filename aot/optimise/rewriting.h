// What the rules share.
#pragma once

#include <string_view>

#include "aot/optimise/changes.h"
#include "aot/passes/pass.h"

namespace vitrine::aot {

// The value of a weight that nothing mutates; null for everything else.
const TensorData* constant_of(const ExportedProgram& program, const Node* node);
// A tensor in this place of the arguments, computed or given; else null.
Node* tensor_arg(const Node& node, size_t index);
// By name in whatever dialect: "aten.mul.Scalar".
bool calls(const Node* node, std::string_view target);
Target edge(std::string_view target);

// Whether both have the same dtype, sizes and order of elements in memory.
bool are_alike(const TensorSpec& a, const TensorSpec& b);
bool is_result(const Node& node);  // of its graph
// Whether the users of `node` may use `other` instead. Results of a graph need memory of their own.
bool may_stand_for(const Node& other, const Node& node);

}  // namespace vitrine::aot
