// What the rules of shape_inference.h share.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

inline const Shape& input(const Node& node, std::span<Shape> shapes, size_t i) {
  return shapes[node.inputs[i]];
}

// All of them alike.
void set_outputs(const Node& node, std::span<Shape> shapes, const Shape& shape);

Error check_rank(const Shape& shape, size_t rank);

// The third input, if there is one.
Error check_bias(const Node& node, std::span<Shape> shapes, size_t channels);

}  // namespace vitrine::xnnpack
