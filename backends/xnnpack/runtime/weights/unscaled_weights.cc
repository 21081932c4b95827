#include "backends/xnnpack/runtime/weights/unscaled_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

// Returns true if all elements are integers from -128 to 127, and at least one is not 0, 1 or -1.
// Masks and permutations contain only 0, 1 and -1.
bool are_int8_values(const Value& value) {
  size_t count = 1;
  for (size_t i = 0; i < value.shape.rank; ++i) count *= value.shape[i];
  float largest = 0;
  for (size_t i = 0; i < count; ++i) {
    float number;
    std::memcpy(&number, value.data + i * sizeof number, sizeof number);
    if (!(number >= -128 && number <= 127) || number != std::trunc(number)) return false;
    largest = std::max(largest, std::abs(number));
  }
  return largest > 1;
}

}  // namespace

Error refuse_unscaled_weights(const Graph& graph) {
  const auto unused = std::ranges::find(graph.externals, kNone);
  if (unused == graph.externals.end()) return Error();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.live || !node.kind->has_weights) continue;
    const Value& weights = graph.values[node.inputs[1]];
    if (weights.data == nullptr || weights.datatype->xnn != xnn_datatype_fp32 ||
        !are_int8_values(weights)) {
      continue;
    }
    return Error::make(
        ErrorCode::kNotSupported,
        "xnodes[%zu] (%s): multiplies by quantized weights without their scales: the payload "
        "leaves argument %zu unused. Lower weight-only quantized layers outside of XNNPACK, or "
        "quantize "
        "their activations too",
        i, node.kind->name, static_cast<size_t>(unused - graph.externals.begin()));
  }
  return Error();
}

}  // namespace vitrine::xnnpack
