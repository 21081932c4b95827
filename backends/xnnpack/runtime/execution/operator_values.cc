#include "backends/xnnpack/runtime/execution/operator_values.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

constexpr std::array<size_t, 4> kToChannelsLast = {0, 2, 3, 1};
constexpr std::array<size_t, 4> kToLogical = {0, 3, 1, 2};

bool needs_channels_last(const Node& node) {
  const std::string_view name = node.kind->name;
  return node.kind->has_window || name == "GlobalAvgPooling2d" || name == "StaticResizeBilinear2D";
}
bool needs_logical_order(const Node& node) {
  const std::string_view name = node.kind->name;
  return name == "StaticReshape" || name == "FullyConnected" || name == "BatchMatrixMultiply" ||
         name == "Softmax" || name == "ScaledDotProductAttention";
}
// True for an inserted layout change with the permutation `perm`.
bool is_change(const Node& node, const std::array<size_t, 4>& perm) {
  return std::string_view(node.kind->name) == "StaticTranspose" && node.list.count == 4 &&
         node.debug_handle == kInsertedHandle &&
         std::equal(perm.begin(), perm.end(), node.list.items.begin());
}

// The dtype of the elements in memory. Empty for packed and other private layouts.
std::optional<ScalarType> dtype_of(xnn_datatype datatype) {
  switch (datatype) {
    case xnn_datatype_fp32:
      return ScalarType::kFloat;
    case xnn_datatype_fp16:
      return ScalarType::kHalf;
    case xnn_datatype_qint8:
    case xnn_datatype_qdint8:
      return ScalarType::kChar;
    case xnn_datatype_quint8:
      return ScalarType::kByte;
    case xnn_datatype_int32:
      return ScalarType::kInt;
    default:
      return std::nullopt;
  }
}

std::optional<TracedQuantization> quantization_of(const RuntimeValue& value) {
  if (value.scale != nullptr) {
    return TracedQuantization{.scales = value.scale, .zero_points = value.zero_point};
  }
  if (value.rows == nullptr) return std::nullopt;
  TracedQuantization result{.scales = &value.rows->scale,
                            .zero_points = &value.rows->zero_point,
                            .stride_bytes = sizeof(xnn_quantization_params)};
  for (size_t i = 0; i + value.row_dims < value.dims.size(); ++i) result.rows *= value.dims[i];
  return result;
}

}  // namespace

Error OperatorValues::load(const Graph& graph, xnn_runtime_t runtime, std::span<const uint32_t> ids,
                           std::span<const uint32_t> node_of_op,
                           std::span<const TracedOperator> logged) {
  graph_ = &graph;
  runtime_ = runtime;
  logged_ = logged;
  VITRINE_RETURN_IF_ERROR(node_of_op_.append(node_of_op));
  VITRINE_RETURN_IF_ERROR(value_of_id_.assign(value_count(runtime), kNone));
  for (uint32_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < value_of_id_.size()) value_of_id_[ids[i]] = i;
  }
  for (uint32_t i = 0; i < operator_count(runtime); ++i) {
    if (!operator_at(runtime, i).runs()) continue;  // the node was fused into another node
    VITRINE_RETURN_IF_ERROR(positions_.push_back(i));
  }
  return is_channels_last_.assign(graph.values.size(), 0);
}

void OperatorValues::start(const BackendExecutionContext& context, ValueTracer& tracer,
                           const DelegateArguments& arguments, DelegateArguments::Call call) {
  tracer_ = &tracer;
  traced_ = {.chain_index = context.chain_index, .instruction_id = context.instruction_id};
  find_layouts(arguments, call);
}

// Finds the values that have channels last. The payload does not say this. The dim orders of
// arguments, the nodes that need a layout, and the inserted layout changes imply it.
void OperatorValues::find_layouts(const DelegateArguments& arguments,
                                  DelegateArguments::Call call) {
  std::ranges::fill(is_channels_last_, uint8_t{0});
  for (const DelegateArguments::Binding& binding : arguments.bindings()) {
    const Tensor& tensor = call[binding.argument]->unchecked_tensor();
    is_channels_last_[binding.value] = tensor.rank() == 4 && tensor.is_channels_last() ? 1 : 0;
  }
  for (const Node& node : graph_->nodes) propagate(node);
  for (size_t i = graph_->nodes.size(); i-- > 0;) propagate_back(graph_->nodes[i]);
  for (const Node& node : graph_->nodes) propagate(node);
}

void OperatorValues::propagate(const Node& node) {
  bool channels_last = needs_channels_last(node) || is_change(node, kToChannelsLast);
  if (!channels_last && !needs_logical_order(node) && !is_change(node, kToLogical)) {
    channels_last = std::ranges::any_of(node.input_values(), [this](uint32_t value) {
      return is_image(value) && is_channels_last_[value] != 0;
    });
  }
  for (const uint32_t value : node.output_values()) {
    if (channels_last && is_image(value)) is_channels_last_[value] = 1;
  }
}

void OperatorValues::propagate_back(const Node& node) {
  if (is_change(node, kToChannelsLast) || needs_logical_order(node)) return;
  const auto is_marked = [this](uint32_t value) { return is_channels_last_[value] != 0; };
  if (!needs_channels_last(node) && !is_change(node, kToLogical) &&
      (std::string_view(node.kind->name) == "StaticTranspose" ||
       std::ranges::none_of(node.output_values(), is_marked))) {
    return;
  }
  const bool reads_one_image = needs_channels_last(node);
  for (const uint32_t value : node.input_values()) {
    if (is_image(value) && !graph_->values[value].is_constant()) is_channels_last_[value] = 1;
    if (reads_one_image) break;
  }
}

void OperatorValues::finished(size_t op) {
  if (op >= positions_.size() || op >= logged_.size()) return;
  const RuntimeOperator ran = operator_at(runtime_, positions_[op]);
  for (uint32_t k = 0; k < ran.outputs.size(); ++k) record(op, ran.outputs[k], k);
}

void OperatorValues::record(size_t op, uint32_t id, uint32_t result) {
  if (id >= value_of_id_.size()) return;  // a result that nothing uses
  const RuntimeValue value = value_at(runtime_, id);
  const std::optional<ScalarType> dtype = dtype_of(value.datatype);
  if (!dtype || value.data == nullptr) return;
  const std::optional<TracedQuantization> quantization = quantization_of(value);
  if (value.datatype == xnn_datatype_qdint8 && !quantization) return;

  // A value that XNNPACK added has the layout of the first output of the operator's node.
  uint32_t known = value_of_id_[id];
  const uint32_t node = op < node_of_op_.size() ? node_of_op_[op] : kNone;
  if (known == kNone && node != kNone) known = graph_->nodes[node].outputs[0];
  const bool channels_last =
      value.dims.size() == 4 && known != kNone && is_channels_last_[known] != 0;

  static constexpr std::array<uint8_t, kMaxDims> kOrder = {0, 1, 2, 3, 4, 5};
  static constexpr std::array<uint8_t, 4> kChannelsLastOrder = {0, 2, 3, 1};
  std::array<int32_t, kMaxDims> sizes{};
  std::array<int64_t, kMaxDims> strides{};
  const size_t rank = std::min(value.dims.size(), kMaxDims);
  const std::span<const uint8_t> order = channels_last
                                             ? std::span<const uint8_t>(kChannelsLastOrder)
                                             : std::span<const uint8_t>(kOrder).first(rank);
  for (size_t i = 0; i < rank; ++i) sizes[order[i]] = static_cast<int32_t>(value.dims[i]);
  Tensor tensor(*dtype, {sizes.data(), rank}, order, {strides.data(), rank}, value.data);
  tensor.set_read_only();
  const EValue holder(&tensor);

  const TracedOperator& logged = logged_[op];
  TracedValue traced = traced_;
  traced.value = &holder;
  traced.delegate_debug_id = logged.debug_id;
  if (logged.debug_id == kUnsetDelegateDebugId) traced.delegate_debug_name = logged.name;
  traced.operator_index = static_cast<int32_t>(op);
  traced.result = result;
  traced.quantization = quantization ? &*quantization : nullptr;
  tracer_->record_value(traced);
}

}  // namespace vitrine::xnnpack
