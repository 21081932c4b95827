#pragma once

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

inline const Shape& input(const Node& node, std::span<Shape> shapes, size_t i) {
  return shapes[node.inputs[i]];
}

void set_outputs(const Node& node, std::span<Shape> shapes, const Shape& shape);

Error check_rank(const Shape& shape, size_t rank);

// Checks the third input, the bias, if the node has one.
Error check_bias(const Node& node, std::span<Shape> shapes, size_t channels);

}  // namespace vitrine::xnnpack
