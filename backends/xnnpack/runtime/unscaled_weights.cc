#include "backends/xnnpack/runtime/unscaled_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/xnnpack/runtime/node_table.h"

namespace vitrine::xnnpack {
namespace {

// Whole numbers from -128 to 127 that are not just zeros and ones, as masks and permutations are.
bool are_quantised_numbers(const Value& value) {
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
        !are_quantised_numbers(weights)) {
      continue;
    }
    return Error::make(
        ErrorCode::kNotSupported,
        "xnodes[%zu] (%s): multiplies with quantised weights as if they were real numbers: their "
        "scales are not in the payload, which leaves argument %zu unused. Lower weight-only "
        "quantised layers outside of XNNPACK, or with quantised activations",
        i, node.kind->name, static_cast<size_t>(unused - graph.externals.begin()));
  }
  return Error();
}

}  // namespace vitrine::xnnpack
