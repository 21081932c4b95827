// Computes and checks the shapes of a graph's values, because XNNPACK does not check them. This
// happens at load with the declared sizes, and again whenever the sizes of an argument change. The
// functions allocate memory only to report an error.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Sets the shapes of all values that live nodes write. `shapes` is indexed by value and holds the
// shapes of inputs and constants. Errors name the node. Returns OutOfResources if a tensor, the
// tensors that are alive at the same time, or the operators' tables exceed a limit.
Error infer_shapes(const Graph& graph, std::span<Shape> shapes, const Limits& limits);

// The shape rules, which the node table refers to.
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
