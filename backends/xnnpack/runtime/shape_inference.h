// The shape that each kind of node makes of its inputs' shapes, and whether they fit it.
//
// XNNPACK derives shapes too, but trusts them: it neither compares a filter with its node's
// channels nor bounds what a shape may cost. So every shape is computed and checked here first, at
// load for the declared sizes and again whenever an argument's sizes change. No allocation unless
// there is an error to report.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// `shapes`, by value index: those of inputs and constants are given, the others are set. Only live
// nodes count. Errors name the node; OutOfResources if a limit is exceeded, by a tensor, by what is
// alive at once, or by operators' tables.
Error infer_shapes(const Graph& graph, std::span<Shape> shapes, const Limits& limits);

// The rules, for the node table.
Error shape_of_first(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_broadcast(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_convolution(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_depthwise(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_transposed_convolution(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_pooling(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_max_pooling(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_global_pooling(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_fully_connected(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_matrix_multiply(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_attention(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_concatenate(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_transpose(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_reshape(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_slice(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_constant_pad(const Node& node, std::span<Shape> shapes, size_t max_bytes);
Error shape_resize(const Node& node, std::span<Shape> shapes, size_t max_bytes);

}  // namespace vitrine::xnnpack
