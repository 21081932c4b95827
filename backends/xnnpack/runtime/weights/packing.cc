#include "backends/xnnpack/runtime/weights/packing.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

Geometry::Type type_of(const Value& value) {
  return {static_cast<uint32_t>(value.datatype->xnn), std::bit_cast<uint32_t>(value.scale),
          value.zero_point};
}

// Returns false if a size does not fit in 32 bits.
bool describe_weights(const Value& value, Geometry::Weights& weights) {
  weights.type = type_of(value);
  weights.channel_dim = value.channel_dim;
  weights.block_size = value.block_size;
  weights.scale_count = value.scale_count;
  weights.rank = static_cast<uint32_t>(value.shape.rank);
  for (size_t i = 0; i < value.shape.rank; ++i) {
    if (value.shape[i] > UINT32_MAX) return false;
    weights.dims[i] = static_cast<uint32_t>(value.shape[i]);
  }
  return true;
}

// Returns false if a Geometry cannot describe the node. The weights of such nodes are not packed.
bool describe(const Graph& graph, const Node& node, Geometry& geometry) {
  const std::string_view kind = node.kind->name;
  const std::span<const uint32_t> weights = node.input_values().subspan(1);
  if (kind.size() > geometry.kind.size() || weights.size() > geometry.weights.size()) return false;
  std::ranges::copy(kind, geometry.kind.begin());
  geometry.flags = node.flags;
  geometry.group_input_channels = node.group_input_channels;
  geometry.group_output_channels = node.group_output_channels;
  geometry.groups = node.groups;
  geometry.adjustment_height = node.adjustment_height;
  geometry.adjustment_width = node.adjustment_width;
  const Window& window = node.window;
  geometry.window = {window.padding_top,   window.padding_right, window.padding_bottom,
                     window.padding_left,  window.kernel_height, window.kernel_width,
                     window.stride_height, window.stride_width,  window.dilation_height,
                     window.dilation_width};
  geometry.weights_count = static_cast<uint32_t>(weights.size());
  geometry.input = type_of(graph.values[node.inputs[0]]);
  geometry.output = type_of(graph.values[node.outputs[0]]);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!describe_weights(graph.values[weights[i]], geometry.weights[i])) return false;
  }
  return true;
}

}  // namespace

Packing packing_of(const Graph& graph, const Node& node, const DigestSecret& secret) {
  Packing packing;
  if (!describe(graph, node, packing.geometry)) return packing;
  Digester digester(secret);
  digester.add_bytes(std::as_bytes(std::span(&packing.geometry, 1)));
  for (const uint32_t index : node.input_values().subspan(1)) {
    const Value& value = graph.values[index];
    if (value.is_constant() && value.content.empty()) return packing;
    digester.add(value.content);
    const bool blocks = value.datatype->quantization == Quantization::kPerBlock;
    const size_t element = blocks ? sizeof(uint16_t) : sizeof(float);
    digester.add_bytes(std::span(value.scales, value.scale_count * element));
  }
  packing.digest = digester.finish();
  return packing;
}

Packing packing_for_kernel(const Packing& packing, uint32_t seed, const DigestSecret& secret) {
  Packing result = packing;
  if (packing.digest.empty()) return result;
  result.geometry.seed = seed;
  Digester digester(secret);
  digester.add(packing.digest);
  digester.add(seed);
  result.digest = digester.finish();
  return result;
}

}  // namespace vitrine::xnnpack
