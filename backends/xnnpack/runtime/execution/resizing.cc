#include "backends/xnnpack/runtime/execution/resizing.h"

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/operator_tables.h"
#include "backends/xnnpack/runtime/reader/shape_inference.h"

namespace vitrine::xnnpack {
namespace {

// Returns a mask of the operands that have the size of the result and may be overwritten.
uint32_t operands_of_full_size(const Node& node, std::span<const Shape> shapes) {
  const size_t result = count_elements(shapes[node.outputs[0]].used());
  uint32_t mask = 0;
  for (uint32_t i = 0; i < node.input_count; ++i) {
    if (count_elements(shapes[node.inputs[i]].used()) == result) mask |= 1u << i;
  }
  return mask;
}

bool can_resize(const Graph& graph, const Node& node, std::span<const Shape> before,
                bool before_is_load, std::span<const Shape> shapes) {
  const Shape& old = before[node.inputs[0]];
  const Shape& now = shapes[node.inputs[0]];
  if (old == now) return true;
  if (node.output_count > 1) return false;
  if (has_padding_for_each_image(graph, node)) {
    const auto images = [](const Shape& shape) { return count_elements(shape.used().first(3)); };
    return before_is_load &&
           (images(now) <= images(old) || count_elements(now.used()) > count_elements(old.used()));
  }
  if (before_is_load) return true;
  const TablesOfNode tables = node.kind->tables;
  if (tables == average_pooling_tables) return false;
  if (tables == global_pooling_tables) {
    return graph.values[node.inputs[0]].datatype->xnn == xnn_datatype_fp32;
  }
  return (tables != pooling_tables && tables != resize_tables) || old.back(1) == now.back(1);
}

}  // namespace

Error refuse_sizes(const Graph& graph, std::span<const Shape> before, bool before_is_load,
                   std::span<const Shape> shapes) {
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    const bool broadcasts = node.kind->infer_shape == shape_broadcast;
    const bool can_apply =
        broadcasts ? operands_of_full_size(node, before) == operands_of_full_size(node, shapes)
                   : can_resize(graph, node, before, before_is_load, shapes);
    if (can_apply) continue;
    return Error::make(ErrorCode::kNotSupported,
                       "cannot resize %s to these sizes; build with "
                       "VITRINE_XNNPACK_PRIVATE_HEADERS=ON",
                       node.kind->name);
  }
  return Error();
}

namespace {

// Sets the shape of each second output. Operators and nodes have the same order, so the next
// operator with two outputs belongs to the next node with two outputs.
void set_second_outputs(xnn_runtime_t runtime, const Graph& graph, std::span<const Shape> shapes) {
  size_t i = 0;
  for (const Node& node : graph.nodes) {
    if (!node.live || node.output_count < 2) continue;
    while (i < operator_count(runtime) && operator_at(runtime, i).outputs.size() < 2) ++i;
    if (i == operator_count(runtime)) return;
    set_value_shape(runtime, operator_at(runtime, i++).outputs[1], shapes[node.outputs[1]],
                    sizeof(int32_t));
  }
}

}  // namespace

void forget_sizes(xnn_runtime_t runtime, const Graph& graph, std::span<const Shape> shapes) {
  drop_memory_plan(runtime);
  if (!sets_second_outputs()) set_second_outputs(runtime, graph, shapes);
  forget_operator_buffers(runtime);
}

}  // namespace vitrine::xnnpack
