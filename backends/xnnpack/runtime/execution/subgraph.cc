#include "backends/xnnpack/runtime/execution/subgraph.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/execution/silu_fusion.h"
#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

// XNN_FLAG_NO_OPERATOR_FUSION, which the public header does not declare.
constexpr uint32_t kNoFusion = 0x80000000u;

ErrorCode code_of(xnn_status status) {
  switch (status) {
    case xnn_status_out_of_memory:
      return ErrorCode::kDelegateMemoryAllocationFailed;
    case xnn_status_unsupported_parameter:
    case xnn_status_unsupported_hardware:
      return ErrorCode::kNotSupported;
    default:
      return ErrorCode::kInvalidProgram;
  }
}

Error rejected(const Graph& graph, size_t i, xnn_status status) {
  const Node& node = graph.nodes[i];
  return Error::make(code_of(status),
                     "xnodes[%zu] (%s): XNNPACK rejects it with the datatypes %s -> %s: %s", i,
                     node.kind->name, graph.values[node.inputs[0]].datatype->name,
                     graph.values[node.outputs[0]].datatype->name, status_text(status));
}

Result<SubgraphHandle> create_subgraph(size_t external_count) {
  xnn_subgraph_t subgraph = nullptr;
  const xnn_status status =
      xnn_create_subgraph(static_cast<uint32_t>(external_count), /*flags=*/0, &subgraph);
  if (status != xnn_status_success) {
    return Error::make(code_of(status), "XNNPACK cannot create a subgraph: %s",
                       status_text(status));
  }
  return SubgraphHandle(subgraph);
}

xnn_status define_value(xnn_subgraph_t subgraph, const Value& value, const Shape& shape,
                        uint32_t external_id, uint32_t flags, uint32_t* id) {
  const xnn_datatype datatype = value.datatype->xnn;
  const size_t* dims = shape.dims.data();
  switch (value.datatype->quantization) {
    case Quantization::kNone:
      return xnn_define_tensor_value(subgraph, datatype, shape.rank, dims, value.data, external_id,
                                     flags, id);
    case Quantization::kPerTensor:
      return xnn_define_quantized_tensor_value(subgraph, datatype, value.zero_point, value.scale,
                                               shape.rank, dims, value.data, external_id, flags,
                                               id);
    case Quantization::kPerChannel:
      return xnn_define_channelwise_quantized_tensor_value_v2(
          subgraph, datatype, value.zero_point, reinterpret_cast<const float*>(value.scales),
          shape.rank, value.channel_dim, dims, value.data, external_id, flags, id);
    case Quantization::kPerToken:
      return xnn_define_dynamically_quantized_tensor_value(
          subgraph, datatype, shape.rank, value.nonbatch_dims, dims, external_id, flags, id);
    case Quantization::kPerBlock:
      return xnn_define_blockwise_quantized_tensor_value(
          subgraph, datatype, value.zero_point, reinterpret_cast<const uint16_t*>(value.scales),
          shape.rank, value.channel_dim, value.block_size, dims, value.data, external_id, flags,
          id);
  }
  return xnn_status_invalid_parameter;
}

Error define_values(const RuntimeRequest& request, xnn_subgraph_t subgraph,
                    std::span<uint32_t> ids) {
  for (size_t i = 0; i < request.graph.values.size(); ++i) {
    const Value& value = request.graph.values[i];
    if (!request.graph.needs_definition(value)) continue;
    const uint32_t flags = (value.is_input ? XNN_VALUE_FLAG_EXTERNAL_INPUT : 0u) |
                           (value.is_output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT : 0u);
    const xnn_status status =
        define_value(subgraph, value, request.shapes[i], value.external_id, flags, &ids[i]);
    if (status != xnn_status_success) {
      return Error::make(code_of(status),
                         "xvalues[%zu]: XNNPACK rejects it with the datatype %s: %s", i,
                         value.datatype->name, status_text(status));
    }
  }
  return Error();
}

bool is_clamp(const Node& node) { return is_kind(node, "Clamp"); }

bool encloses_zero(const Node& node) {
  return node.output_min <= 0 && !(node.output_min == 0 && std::signbit(node.output_min)) &&
         node.output_max >= FLT_MIN;
}

bool requantizes(const Graph& graph, const Node& node) {
  const Value& from = graph.values[node.inputs[0]];
  const Value& to = graph.values[node.outputs[0]];
  return from.scale != to.scale || from.zero_point != to.zero_point;
}

// Returns true if XNNPACK must not fuse the operators of this graph.
//
// XNNPACK fuses a clamp into a preceding clamp, product, convolution or pooling. The fused node has
// the clamp's result and the bounds of both nodes. The result would be wrong in these cases (tests:
// ClampsTest):
// - The clamp changes the quantization. Packed weights would be identified by the quantization of
//   the preceding node's own result (packed_weights.h), and max pooling would not requantize.
// - XNNPACK 4ea82e5 (fusion_confuses_bounds()): the preceding node is a convolution or pooling, and
//   the clamp's bounds do not enclose zero. XNNPACK then clamps padding_top and padding_right,
//   whose bits it reads as tiny positive floats.
// - XNNPACK 4ea82e5: the bounds of the two nodes overlap by at most one step of int8. XNNPACK then
//   rejects the bounds or uses a wrong bound. Clamps may follow each other, so this function
//   compares all bounds of the graph.
bool must_not_fuse(const Graph& graph) {
  bool window = false;
  bool clamp = false;
  bool away_from_zero = false;
  bool requantized = false;
  float low = -INFINITY;
  float high = INFINITY;
  float step = 0;
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    window = window || node.kind->has_window;
    low = std::max(low, node.output_min);
    high = std::min(high, node.output_max);
    if (!is_clamp(node)) continue;
    clamp = true;
    away_from_zero = away_from_zero || !encloses_zero(node);
    requantized = requantized || requantizes(graph, node);
    step = std::max(step, graph.values[node.outputs[0]].scale);
  }
  if (!fusion_confuses_bounds()) return requantized;
  return clamp && ((window && away_from_zero) || requantized || high - low <= step);
}

// Returns the number of subgraph nodes that XNNPACK makes for a node. Used in builds in which
// count_subgraph_nodes() returns 0.
uint32_t expected_node_count(const Node& node) {
  const bool bounded = node.output_min != -INFINITY || node.output_max != INFINITY;
  const bool bounds_itself = node.kind->has_weights || node.kind->has_window || is_clamp(node);
  return bounded && !bounds_itself ? 2 : 1;
}

xnn_status create_runtime(xnn_subgraph_t subgraph, const RuntimeRequest& request, uint32_t flags,
                          RuntimeHandle& runtime) {
  xnn_runtime_t created = nullptr;
  const xnn_status status = call_xnnpack([&] {
    return xnn_create_runtime_v4(subgraph, request.weights, request.workspace, request.pool, flags,
                                 &created);
  });
  if (created != nullptr) runtime.reset(created);
  return status;
}

// Returns true if the node reads or writes dynamically quantized values. try_node() cannot try such
// a node: it makes all outputs external, and dynamically quantized values cannot be external.
// XNNPACK 92a7ad5 also needs the node that computes a dynamically quantized input.
bool has_dynamic_values(const Graph& graph, const Node& node) {
  const auto is_dynamic = [&](uint32_t value) {
    return graph.values[value].datatype->quantization == Quantization::kPerToken;
  };
  return std::ranges::any_of(node.input_values(), is_dynamic) ||
         std::ranges::any_of(node.output_values(), is_dynamic);
}

// Tries to create a runtime for this node alone. All `ids` must be XNN_INVALID_VALUE_ID before the
// call, which sets the ids of the node's values.
xnn_status try_node(const RuntimeRequest& request, const Node& node, std::span<uint32_t> ids) {
  const Graph& graph = request.graph;
  const Result<SubgraphHandle> trial = create_subgraph(node.output_count);
  if (!trial.ok()) return xnn_status_success;  // the node is not the reason
  bool defined = true;
  for (const uint32_t value : node.input_values()) {
    if (ids[value] != XNN_INVALID_VALUE_ID) continue;
    defined = defined && define_value(trial->get(), graph.values[value], request.shapes[value],
                                      XNN_INVALID_VALUE_ID, 0, &ids[value]) == xnn_status_success;
  }
  for (uint32_t k = 0; k < node.output_count; ++k) {
    const uint32_t value = node.outputs[k];
    defined =
        defined && define_value(trial->get(), graph.values[value], request.shapes[value], k,
                                XNN_VALUE_FLAG_EXTERNAL_OUTPUT, &ids[value]) == xnn_status_success;
  }
  if (!defined || node.kind->define(trial->get(), node, ids) != xnn_status_success) {
    return xnn_status_success;  // the trial failed for another reason
  }
  RuntimeHandle runtime;
  return create_runtime(trial->get(), request, 0, runtime);
}

// XNNPACK does not say why it cannot create a runtime. This function tries one node at a time,
// until the budget of load steps is used up.
Error find_rejected_node(const RuntimeRequest& request, xnn_status status) {
  const Graph& graph = request.graph;
  CheckedVector<uint32_t> ids;
  const bool can_search = request.load_steps.take(graph.values.size()) &&
                          ids.assign(graph.values.size(), XNN_INVALID_VALUE_ID).ok();
  for (size_t i = 0; can_search && i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.live || has_dynamic_values(graph, node)) continue;
    if (!request.load_steps.take(uint64_t{node.input_count} + node.output_count)) break;
    const xnn_status trial = try_node(request, node, ids);
    if (trial != xnn_status_success) return rejected(graph, i, trial);
    for (const uint32_t value : node.input_values()) ids[value] = XNN_INVALID_VALUE_ID;
    for (const uint32_t value : node.output_values()) ids[value] = XNN_INVALID_VALUE_ID;
  }
  return Error::make(code_of(status), "XNNPACK cannot create a runtime for the graph: %s",
                     status_text(status));
}

}  // namespace

const char* status_text(xnn_status status) {
  switch (status) {
    case xnn_status_success:
      return "success";
    case xnn_status_uninitialized:
      return "not initialized";
    case xnn_status_invalid_parameter:
      return "invalid parameter";
    case xnn_status_invalid_state:
      return "invalid state";
    case xnn_status_unsupported_parameter:
      return "unsupported parameter";
    case xnn_status_unsupported_hardware:
      return "unsupported hardware";
    case xnn_status_out_of_memory:
      return "out of memory";
    default:
      return "unknown status";
  }
}

Result<BuiltRuntime> build_runtime(const RuntimeRequest& request) {
  const Graph& graph = request.graph;
  VITRINE_ASSIGN_OR_RETURN(const SubgraphHandle subgraph, create_subgraph(graph.external_count));
  CheckedVector<uint32_t> ids;
  VITRINE_RETURN_IF_ERROR(ids.assign(graph.values.size(), XNN_INVALID_VALUE_ID));
  VITRINE_RETURN_IF_ERROR(define_values(request, subgraph.get(), ids));

  BuiltRuntime built;
  VITRINE_RETURN_IF_ERROR(built.defined.resize(graph.nodes.size()));
  uint32_t node_count = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.live) continue;
    if (node.fusion == Node::Fusion::kSigmoid) {
      built.defined[i] = {node_count, 0};
      continue;
    }
    const xnn_status status = node.fusion == Node::Fusion::kProduct
                                  ? define_silu(subgraph.get(), graph, node, ids)
                                  : node.kind->define(subgraph.get(), node, ids);
    if (status != xnn_status_success) return rejected(graph, i, status);
    // If an operator does not support bounds, XNNPACK adds a clamp as a second node.
    const uint32_t after = count_subgraph_nodes(subgraph.get());
    const uint32_t count = after != 0 ? after - node_count : expected_node_count(node);
    built.defined[i] = {node_count, count};
    node_count += count;
  }

  for (uint32_t i = 0; request.profiling && !operators_keep_node_ids() && i < node_count; ++i) {
    VITRINE_RETURN_IF_ERROR(built.nodes.push_back(subgraph_node_at(subgraph.get(), i)));
  }

  const uint32_t flags =
      (request.profiling ? XNN_FLAG_BASIC_PROFILING : 0u) | (must_not_fuse(graph) ? kNoFusion : 0u);
  const xnn_status status = create_runtime(subgraph.get(), request, flags, built.runtime);
  if (status != xnn_status_success) return find_rejected_node(request, status);
  built.ids = std::move(ids);
  return built;
}

}  // namespace vitrine::xnnpack
