#include "backends/xnnpack/runtime/reader/scale_checks.h"

#include <algorithm>

#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

bool is_int8(const Value& value) {
  return value.datatype->xnn == xnn_datatype_qint8 || value.datatype->xnn == xnn_datatype_quint8;
}

// These bounds are wider than the bounds that XNNPACK 4ea82e5 asserts in debug builds
// (src/microparams-init.c). ExecuTorch also runs programs within the wider bounds, with correct
// results.

// Addition kernels shift by 20 - e bits, where e is the binary exponent of max(a, b) / result. The
// shift must be 1 to 31 bits.
bool can_add(float a, float b, float result) {
  const float ratio = std::max(a, b) / result;
  return ratio >= 0x1p-11f && ratio < 0x1p20f;
}

// XNNPACK stores the ratio of the scales in 16 bits, 8 of them after the binary point.
bool can_convert(float from, float to) { return from / to <= 0x1p7f; }

bool can_leaky_relu(float from, float to, float slope) {
  const float negative = from / to * slope;
  return can_convert(from, to) && negative >= -0x1.FFFCp6f && negative <= 0x1p7f;
}

bool can_represent_scales(const Graph& graph, const Node& node) {
  const Value& first = graph.values[node.inputs[0]];
  const Value& result = graph.values[node.outputs[0]];
  if (!is_int8(first) || !is_int8(result)) return true;
  const auto second = [&] { return graph.values[node.inputs[1]].scale; };
  const NodeKind& kind = *node.kind;
  if (kind.define == &define_binary) {
    switch (kind.operation) {
      case xnn_binary_add:
      case xnn_binary_subtract:
        return can_add(first.scale, second(), result.scale);
      case xnn_binary_multiply:
        return first.scale * second() / result.scale < 0x1p8f;
      default:
        return true;
    }
  }
  if (kind.define == &define_unary && kind.operation == xnn_unary_convert) {
    return can_convert(first.scale, result.scale);
  }
  if (kind.define == &define_parametric_unary && kind.operation == xnn_unary_leaky_relu) {
    return can_leaky_relu(first.scale, result.scale, node.parameter);
  }
  // XNNPACK itself checks the upper bound. For qint8, XNNPACK stores the requantization scale as a
  // float, which does not need a lower bound.
  if (kind.has_weights && first.datatype->xnn == xnn_datatype_quint8) {
    return first.scale * second() / result.scale >= 0x1p-32f;
  }
  return true;
}

}  // namespace

Error check_scales(const Graph& graph, const Node& node) {
  if (can_represent_scales(graph, node)) return Error();
  return Error::make(ErrorCode::kNotSupported,
                     "its scales are too far apart: %g (input) and %g (output)",
                     static_cast<double>(graph.values[node.inputs[0]].scale),
                     static_cast<double>(graph.values[node.outputs[0]].scale));
}

}  // namespace vitrine::xnnpack
