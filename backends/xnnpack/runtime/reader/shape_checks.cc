#include "backends/xnnpack/runtime/reader/shape_checks.h"

#include "backends/xnnpack/runtime/reader/invalid_payload.h"
#include "runtime/core/checked_math.h"

namespace vitrine::xnnpack {

void set_outputs(const Node& node, std::span<Shape> shapes, const Shape& shape) {
  for (const uint32_t value : node.output_values()) shapes[value] = shape;
}

Error check_rank(const Shape& shape, size_t rank) {
  if (shape.rank != rank)
    return invalid_payload("its input has rank %zu, not %zu", shape.rank, rank);
  return Error();
}

Error check_bias(const Node& node, std::span<Shape> shapes, size_t channels) {
  if (node.input_count < 3) return Error();
  const Shape& bias = input(node, shapes, 2);
  size_t count = 1;
  for (const size_t dim : bias.used()) {
    if (mul_overflows(count, dim, &count)) return invalid_payload("its bias is too large");
  }
  if (count != channels)
    return invalid_payload("it has %zu biases for %zu output channels", count, channels);
  return Error();
}

}  // namespace vitrine::xnnpack
