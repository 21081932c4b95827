#include "backends/xnnpack/runtime/reader/graph_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "backends/xnnpack/runtime/reader/invalid_payload.h"
#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/scale_checks.h"
#include "backends/xnnpack/runtime/reader/value_reader.h"

namespace vitrine::xnnpack {
namespace {

namespace fb = schema::xnnpack;

constexpr uint32_t kMaxExternals = 4096;

// Conversion flags that XNNPACK's public header does not declare. They pack the result in the
// layout that KleidiAI's int4 products read, for weights with a scale per channel or per block. The
// flags have no effect without KleidiAI.
constexpr uint32_t kPackForChannels = 0x80;  // XNN_FLAG_MAYBE_PACK_FOR_GEMM
constexpr uint32_t kPackForBlocks = 0x100;   // XNN_FLAG_MAYBE_PACK_FOR_QB4W_GEMM

class ValueIds {
 public:
  Error make(std::span<const Value> values) {
    VITRINE_RETURN_IF_ERROR(pairs_.reserve(values.size()));
    for (uint32_t i = 0; i < values.size(); ++i) {
      if (values[i].quantized_on_entry) continue;
      VITRINE_RETURN_IF_ERROR(pairs_.push_back({values[i].id, i}));
    }
    std::ranges::sort(pairs_);
    return Error();
  }

  Error check_unique() const {
    const auto same = std::ranges::adjacent_find(pairs_, {}, &std::pair<uint32_t, uint32_t>::first);
    if (same == pairs_.end()) return Error();
    return invalid_payload("xvalues[%u]: id_out %u is already used by xvalues[%u]",
                           std::next(same)->second, same->first, same->second);
  }

  uint32_t find(uint32_t id) const {
    const auto at = std::ranges::lower_bound(pairs_, std::pair(id, 0u));
    return at != pairs_.end() && at->first == id ? at->second : kNone;
  }

 private:
  CheckedVector<std::pair<uint32_t, uint32_t>> pairs_;
};

Error read_values(const fb::XNNGraph& from, Graph& graph, Budget& steps) {
  if (from.xvalues() == nullptr) return invalid_payload("xvalues are missing");
  if (!steps.take(from.xvalues()->size())) return too_much_work(steps);
  for (uint32_t i = 0; i < from.xvalues()->size(); ++i) {
    Result<Value> value = read_value(*from.xvalues()->Get(i), graph.external_count);
    if (!value.ok()) return value.take_error().in("xvalues[%u]", i);
    if (!steps.take(value->scale_count)) return too_much_work(steps).in("xvalues[%u]", i);
    if (value->external_id != kNone) {
      uint32_t& owner = graph.externals[value->external_id];
      if (owner != kNone) {
        return invalid_payload("xvalues[%u]: external_id %u is already used by xvalues[%u]", i,
                               value->external_id, owner);
      }
      owner = i;
    }
    VITRINE_RETURN_IF_ERROR(graph.values.push_back(std::move(*value)));
  }
  return Error();
}

Error read_bounds(const fb::XNode& from, Node& node) {
  if (const fb::OutputMinMax* bounds = from.output_min_max()) {
    node.output_min = bounds->output_min();
    node.output_max = bounds->output_max();
  }
  if (std::isnan(node.output_min) || std::isnan(node.output_max) ||
      node.output_min > node.output_max) {
    return invalid_payload("output_min_max is not a range: %g to %g",
                           static_cast<double>(node.output_min),
                           static_cast<double>(node.output_max));
  }
  const bool bounded = node.output_min != -INFINITY || node.output_max != INFINITY;
  if (bounded && !node.kind->accepts_bounds) {
    return Error::make(ErrorCode::kNotSupported, "output_min_max is not supported for this node");
  }
  return Error();
}

Error resolve(const ValueIds& ids, std::span<uint32_t> of_node) {
  for (uint32_t& id : of_node) {
    const uint32_t index = ids.find(id);
    if (index == kNone) return invalid_payload("value %u is not defined", id);
    id = index;
  }
  return Error();
}

// Nodes are in execution order. An earlier node must write each input that is neither a constant
// nor an input of the delegate.
Error check_order(Graph& graph, const Node& node, uint32_t index) {
  for (const uint32_t i : node.input_values()) {
    const Value& value = graph.values[i];
    if (!value.is_constant() && !value.is_input && value.producer == kNone) {
      return invalid_payload("reads value %u, which no earlier node writes", value.id);
    }
  }
  for (const uint32_t i : node.output_values()) {
    Value& value = graph.values[i];
    if (value.is_constant())
      return invalid_payload("writes value %u, which is a constant", value.id);
    if (value.is_input) return invalid_payload("writes value %u, which is an input", value.id);
    if (value.producer != kNone) {
      return invalid_payload("writes value %u, which xnodes[%u] already writes", value.id,
                             value.producer);
    }
    value.producer = index;
  }
  return Error();
}

bool matches(const Signature& signature, const Graph& graph, const Node& node) {
  for (size_t i = 0; i < node.input_count; ++i) {
    const xnn_datatype expected = signature.inputs[std::min(i, signature.inputs.size() - 1)];
    if (graph.values[node.inputs[i]].datatype->xnn != expected) return false;
  }
  for (size_t i = 0; i < node.output_count; ++i) {
    if (graph.values[node.outputs[i]].datatype->xnn != signature.outputs[i]) return false;
  }
  return true;
}

Error check_datatypes(const Graph& graph, const Node& node) {
  for (const Signature& signature : node.kind->signatures) {
    if (matches(signature, graph, node)) return Error();
  }
  char text[160];
  size_t used = 0;
  const auto append = [&](const char* separator, uint32_t value) {
    const int written = std::snprintf(text + used, sizeof text - used, "%s%s", separator,
                                      graph.values[value].type_name());
    used = std::min(sizeof text - 1, used + static_cast<size_t>(std::max(written, 0)));
  };
  for (size_t i = 0; i < node.input_count; ++i) append(i == 0 ? "" : ", ", node.inputs[i]);
  for (size_t i = 0; i < node.output_count; ++i) append(i == 0 ? " -> " : ", ", node.outputs[i]);
  return Error::make(ErrorCode::kNotSupported, "datatypes %s are not supported", text);
}

// Returns the kind of node that the backend runs. A conversion between fp32 and bf16 becomes a
// copy, because the graph holds bf16 values as fp32.
const NodeKind* kind_of(const Graph& graph, const Node& node, fb::XNodeUnion tag) {
  const Value& from = graph.values[node.inputs[0]];
  const Value& to = graph.values[node.outputs[0]];
  const bool is_copy = tag == fb::XNodeUnion::XNNConvert && from.is_bf16 != to.is_bf16 &&
                       from.datatype == to.datatype;
  return is_copy ? find_node_kind(fb::XNodeUnion::XNNCopy) : node.kind;
}

Error check_weights(const Graph& graph, const Node& node) {
  if (!node.kind->has_weights) return Error();
  const Value& filter = graph.values[node.inputs[1]];
  const bool float_weights = filter.datatype->xnn == xnn_datatype_fp32 &&
                             graph.values[node.inputs[0]].datatype->xnn == xnn_datatype_fp32;
  for (size_t i = 1; i < node.input_count; ++i) {
    const Value& value = graph.values[node.inputs[i]];
    if (!value.is_constant() && (node.kind->weights_must_be_constant || !float_weights)) {
      return Error::make(ErrorCode::kNotSupported, "its %s is not a constant",
                         i == 1 ? "filter" : "bias");
    }
  }
  if (filter.datatype->quantization == Quantization::kPerTensor && filter.zero_point != 0 &&
      filter.datatype->xnn == xnn_datatype_qint8) {
    return Error::make(ErrorCode::kNotSupported, "its filter's zero_point is %d, not 0",
                       filter.zero_point);
  }
  if (filter.datatype->xnn == xnn_datatype_qbint4 &&
      (node.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0) {
    return Error::make(ErrorCode::kNotSupported, "its group-wise filter must not be transposed");
  }
  const Value& input = graph.values[node.inputs[0]];
  if (input.datatype->quantization == Quantization::kPerToken &&
      input.nonbatch_dims != node.kind->nonbatch_dims) {
    return Error::make(ErrorCode::kNotSupported, "its input's num_nonbatch_dims is %u, not %u",
                       input.nonbatch_dims, node.kind->nonbatch_dims);
  }
  return Error();
}

Result<Node> read_node(const fb::XNode& from, const ValueIds& ids, const Graph& graph) {
  Node node;
  node.kind = find_node_kind(from.xnode_union_type());
  node.debug_handle = from.debug_handle();
  if (node.debug_handle > INT32_MAX) return invalid_payload("debug_handle %u", node.debug_handle);
  if (from.xnode_union() == nullptr) return invalid_payload("is empty");
  VITRINE_RETURN_IF_ERROR(node.kind->decode(from.xnode_union(), node));
  if (node.kind->has_weights && node.inputs[2] == kNone) node.input_count = 2;
  if ((node.flags & ~node.kind->allowed_flags) != 0) {
    return Error::make(ErrorCode::kNotSupported, "flags are 0x%x", node.flags);
  }
  VITRINE_RETURN_IF_ERROR(read_bounds(from, node));
  VITRINE_RETURN_IF_ERROR(resolve(ids, {node.inputs.data(), node.input_count}));
  VITRINE_RETURN_IF_ERROR(resolve(ids, {node.outputs.data(), node.output_count}));
  node.kind = kind_of(graph, node, from.xnode_union_type());
  VITRINE_RETURN_IF_ERROR(check_datatypes(graph, node));
  VITRINE_RETURN_IF_ERROR(check_weights(graph, node));
  VITRINE_RETURN_IF_ERROR(check_scales(graph, node));
  return node;
}

// For each input with `quantized_on_entry`, adds a node that quantizes the input to int8. Newer
// payloads already contain such nodes.
Error add_conversions(Graph& graph) {
  const size_t count = graph.values.size();
  for (uint32_t i = 0; i < count; ++i) {
    if (!graph.values[i].quantized_on_entry) continue;
    Value converted;
    converted.id = graph.values[i].id;
    converted.datatype = find_datatype(fb::XNNDatatype::xnn_datatype_qdint8);
    converted.shape = graph.values[i].shape;
    converted.nonbatch_dims = 1;
    converted.producer = static_cast<uint32_t>(graph.nodes.size());
    Node node;
    node.kind = find_node_kind(fb::XNodeUnion::XNNConvert);
    node.debug_handle = kInsertedHandle;
    node.input_count = node.output_count = 1;
    node.inputs[0] = i;
    node.outputs[0] = static_cast<uint32_t>(graph.values.size());
    VITRINE_RETURN_IF_ERROR(graph.values.push_back(std::move(converted)));
    VITRINE_RETURN_IF_ERROR(graph.nodes.push_back(node));
  }
  return Error();
}

Error read_nodes(const fb::XNNGraph& from, Graph& graph, Budget& steps) {
  if (from.xnodes() == nullptr) return invalid_payload("xnodes are missing");
  if (!steps.take(from.xnodes()->size())) return too_much_work(steps);
  ValueIds ids;
  VITRINE_RETURN_IF_ERROR(ids.make(graph.values));
  VITRINE_RETURN_IF_ERROR(ids.check_unique());
  for (uint32_t i = 0; i < from.xnodes()->size(); ++i) {
    const fb::XNode& node_from = *from.xnodes()->Get(i);
    const NodeKind* kind = find_node_kind(node_from.xnode_union_type());
    if (kind == nullptr) {
      return Error::make(ErrorCode::kNotImplemented, "xnodes[%u]: node type %u is unknown", i,
                         static_cast<unsigned>(node_from.xnode_union_type()));
    }
    Result<Node> node = read_node(node_from, ids, graph);
    if (!node.ok()) return node.take_error().in("xnodes[%u] (%s)", i, kind->name);
    const auto index = static_cast<uint32_t>(graph.nodes.size());
    if (Error error = check_order(graph, *node, index); !error.ok()) {
      return std::move(error).in("xnodes[%u] (%s)", i, kind->name);
    }
    VITRINE_RETURN_IF_ERROR(graph.nodes.push_back(*node));
  }
  return Error();
}

// Returns the packing flag that `node` supports for its input `value`, or 0.
uint32_t packing_for(const Graph& graph, const Node& node, uint32_t value) {
  if (node.kind->define != &define_fully_connected || node.inputs[0] != value ||
      (node.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0 ||
      graph.values[node.outputs[0]].datatype->xnn != xnn_datatype_fp32) {
    return 0;
  }
  const Value& filter = graph.values[node.inputs[1]];
  if (filter.shape.rank != 2 || filter.shape.back(1) % 2 != 0)
    return 0;  // a row must end at a byte boundary
  if (filter.datatype->xnn == xnn_datatype_qcint4) return kPackForChannels;
  return filter.datatype->xnn == xnn_datatype_qbint4 ? kPackForBlocks : 0;
}

// A conversion may pack its result only if all readers support the same packing.
Error pack_conversions(Graph& graph) {
  CheckedVector<uint32_t> packings;  // by value: the flags that all readers support
  VITRINE_RETURN_IF_ERROR(packings.assign(graph.values.size(), kPackForChannels | kPackForBlocks));
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    for (const uint32_t value : node.input_values()) {
      packings[value] &= packing_for(graph, node, value);
    }
  }
  for (Node& node : graph.nodes) {
    const Value& to = graph.values[node.outputs[0]];
    if (!node.live || to.is_output || to.datatype->xnn != xnn_datatype_qdint8 ||
        graph.values[node.inputs[0]].datatype->xnn != xnn_datatype_fp32) {
      continue;
    }
    node.flags |= packings[node.outputs[0]];
  }
  return Error();
}

// Each pair of values costs a step, because XNNPACK's memory planner compares all pairs.
Error take_planning_steps(const Graph& graph, Budget& steps) {
  const auto values =
      static_cast<uint64_t>(std::ranges::count_if(graph.values, [&graph](const Value& value) {
        return value.external_id == kNone && !value.is_constant() && graph.needs_definition(value);
      }));
  if (steps.take(values * values / 64)) return Error();
  return Error::make(ErrorCode::kOutOfResources,
                     "planning the memory of %llu values is more work than max_load_steps allows",
                     static_cast<unsigned long long>(values));
}

}  // namespace

Error find_live_nodes(Graph& graph) {
  for (Value& value : graph.values) {
    value.used = false;
    value.last_reader = kNone;
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    node.live = false;
    size_t num_used = 0;
    for (const uint32_t value : node.output_values()) {
      if (graph.values[value].is_output || graph.values[value].used) ++num_used;
    }
    if (num_used == 0) continue;
    if (num_used != node.output_count) {
      return Error::make(ErrorCode::kNotSupported,
                         "xnodes[%zu] (%s): some of its outputs are not used", i, node.kind->name);
    }
    node.live = true;
    for (const uint32_t value : node.input_values()) {
      if (!graph.values[value].used) graph.values[value].last_reader = static_cast<uint32_t>(i);
      graph.values[value].used = true;
    }
  }
  return Error();
}

Result<Graph> read_graph(const fb::XNNGraph& from, Budget& steps) {
  Graph graph;
  graph.external_count = from.num_externs();
  if (graph.external_count > kMaxExternals) {
    return invalid_payload("num_externs is %u, more than %u", graph.external_count, kMaxExternals);
  }
  VITRINE_RETURN_IF_ERROR(graph.externals.assign(graph.external_count, kNone));
  VITRINE_RETURN_IF_ERROR(read_values(from, graph, steps));
  VITRINE_RETURN_IF_ERROR(add_conversions(graph));
  VITRINE_RETURN_IF_ERROR(read_nodes(from, graph, steps));
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].is_output && graph.values[i].producer == kNone) {
      return invalid_payload("xvalues[%zu]: no node writes this output", i);
    }
  }
  VITRINE_RETURN_IF_ERROR(find_live_nodes(graph));
  VITRINE_RETURN_IF_ERROR(pack_conversions(graph));
  VITRINE_RETURN_IF_ERROR(take_planning_steps(graph, steps));
  return graph;
}

}  // namespace vitrine::xnnpack
