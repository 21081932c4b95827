#include "backends/xnnpack/runtime/scale_checks.h"

#include "backends/xnnpack/format/scales.h"
#include "backends/xnnpack/runtime/node_definition.h"
#include "backends/xnnpack/runtime/node_table.h"

namespace vitrine::xnnpack {
namespace {

bool is_int8(const Value& value) {
  return value.datatype->xnn == xnn_datatype_qint8 || value.datatype->xnn == xnn_datatype_quint8;
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
        return adds_scales(first.scale, second(), result.scale);
      case xnn_binary_multiply:
        return multiplies_scales(first.scale, second(), result.scale);
      default:
        return true;
    }
  }
  if (kind.define == &define_unary && kind.operation == xnn_unary_convert) {
    return converts_scales(first.scale, result.scale);
  }
  if (kind.define == &define_parametric_unary && kind.operation == xnn_unary_leaky_relu) {
    return bends_scales(first.scale, result.scale, node.parameter);
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
