#include "backends/xnnpack/runtime/scale_checks.h"

#include <algorithm>

#include "backends/xnnpack/runtime/node_definition.h"
#include "backends/xnnpack/runtime/node_table.h"

namespace vitrine::xnnpack {
namespace {

bool is_int8(const Value& value) {
  return value.datatype->xnn == xnn_datatype_qint8 || value.datatype->xnn == xnn_datatype_quint8;
}

// XNNPACK 4ea82e5 asserts closer bounds, which releases leave out (src/microparams-init.c). Between
// those and these its numbers are right, and ExecuTorch runs such programs.
bool adds(float a, float b, float result) {  // shifts by 20 - exponent bits, which are 1 to 31
  const float ratio = std::max(a, b) / result;
  return ratio >= 0x1p-11f && ratio < 0x1p20f;
}

bool converts(float from, float to) { return from / to <= 0x1p7f; }  // 16 bits, 8 of a fraction

bool bends(float from, float to, float slope) {
  const float negative = from / to * slope;
  return converts(from, to) && negative >= -0x1.FFFCp6f && negative <= 0x1p7f;
}

bool has_numbers(const Graph& graph, const Node& node) {
  const Value& first = graph.values[node.inputs[0]];
  const Value& result = graph.values[node.outputs[0]];
  if (!is_int8(first) || !is_int8(result)) return true;
  const auto second = [&] { return graph.values[node.inputs[1]].scale; };
  const NodeKind& kind = *node.kind;
  if (kind.define == &define_binary) {
    switch (kind.operation) {
      case xnn_binary_add:
      case xnn_binary_subtract:
        return adds(first.scale, second(), result.scale);
      case xnn_binary_multiply:
        return first.scale * second() / result.scale < 0x1p8f;
      default:
        return true;
    }
  }
  if (kind.define == &define_unary && kind.operation == xnn_unary_convert) {
    return converts(first.scale, result.scale);
  }
  if (kind.define == &define_parametric_unary && kind.operation == xnn_unary_leaky_relu) {
    return bends(first.scale, result.scale, node.parameter);
  }
  // Its upper end XNNPACK checks itself; of qint8 it makes floats, which have no lower one.
  if (kind.has_weights && first.datatype->xnn == xnn_datatype_quint8) {
    return first.scale * second() / result.scale >= 0x1p-32f;
  }
  return true;
}

}  // namespace

Error check_scales(const Graph& graph, const Node& node) {
  if (has_numbers(graph, node)) return Error();
  return Error::make(ErrorCode::kNotSupported, "its scales are too far apart: %g to %g",
                     static_cast<double>(graph.values[node.inputs[0]].scale),
                     static_cast<double>(graph.values[node.outputs[0]].scale));
}

}  // namespace vitrine::xnnpack
