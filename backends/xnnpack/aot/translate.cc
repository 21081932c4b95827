#include "backends/xnnpack/aot/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "backends/xnnpack/aot/operator_table.h"
#include "backends/xnnpack/aot/rules.h"
#include "backends/xnnpack/aot/translator.h"
#include "backends/xnnpack/aot/weights.h"

namespace vitrine::aot::xnnpack {
namespace {

PerTensor per_tensor(const QuantParams& params) {
  return {static_cast<float>(params.scale), static_cast<int32_t>(params.zero_point)};
}

// Returns an empty list for the logical order.
std::vector<uint32_t> order_of(const TensorSpec& spec) {
  const std::vector<uint8_t> order = kept_dim_order(spec);
  if (std::ranges::is_sorted(order)) return {};
  return {order.begin(), order.end()};
}

const std::vector<uint32_t> kChannelsLast = {0, 2, 3, 1};

void add_handle(std::vector<uint32_t>& handles, const Node& node) {
  if (node.meta.debug_handle != 0) handles.push_back(node.meta.debug_handle);
}

}  // namespace

PayloadGraph translate(Preprocessing& p) { return Translator(p).run(); }

PayloadGraph Translator::run() {
  add_inputs();
  each_call(p_.graph(), [&](Node& node) {
    if (Node* quantize = quantized_result(node)) quantized_results_[&node] = quantize;
  });
  each_call(p_.graph(), [&](Node& node) { translate_call(node); });
  add_outputs();
  return std::move(graph_);
}

void Translator::refuse(const Node& node, std::string_view why) const {
  throw AotError(fmt::format("node {} ({}): it cannot be translated for XNNPACK: {}", node.name(),
                             node.is_call() ? node.target().name() : "placeholder", why));
}

std::vector<uint32_t> Translator::dims_of(const Node& node) const {
  const TensorSpec& spec = spec_of(node);
  std::vector<uint32_t> dims;
  for (const SymInt& size : spec.sizes) {
    int64_t largest = 1;  // the run-time half sets the actual size
    if (size.is_static()) {
      largest = size.value();
    } else {
      const Range range = bounds(size.expression(), p_.program().range_constraints);
      largest = range.max.value_or(std::max<int64_t>(range.min.value_or(1), 1));
      if (largest > std::numeric_limits<int32_t>::max()) {
        fail_at(node, fmt::format(
                          "its size {} may be {}, but sizes in programs must be from 0 to 2^31 - 1",
                          to_text(size), largest));
      }
    }
    dims.push_back(size_of(node, largest));
  }
  if (dims.empty()) dims.push_back(1);
  return dims;
}

Datatype Translator::datatype_of(const Node& node) const {
  const ScalarType dtype = spec_of(node).dtype;
  const std::optional<Datatype> type = float_datatype(dtype);
  if (type) return *type;
  refuse(node, fmt::format("its dtype is {}, expected f32, f16 or bf16", scalar_type_name(dtype)));
}

uint32_t Translator::size_of(const Node& node, int64_t number) const {
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    refuse(node, fmt::format("{} is not a size from 0 to 2^31 - 1", number));
  }
  return static_cast<uint32_t>(number);
}

uint32_t Translator::add_constant(PayloadValue value, std::vector<std::byte> bytes,
                                  const Node* source) {
  if (source != nullptr) value.external_tag = source->meta.external_tag;
  value.data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return graph_.add_value(std::move(value));
}

uint32_t Translator::value_of(Node& node) {
  const auto found = values_.find(&node);
  if (found != values_.end()) return found->second;
  if (is_quantize(node) && !is_dynamic(node)) return quantized_value(node, quant_params(node));
  PayloadValue value;
  value.datatype = datatype_of(node);
  value.dims = dims_of(node);
  uint32_t id = kNoValue;
  if (parameters_.has(&node)) {
    id = add_constant(value, float_bytes(value.datatype, p_.floats(node)), &node);
  } else {
    id = graph_.add_value(std::move(value));
  }
  return values_[&node] = id;
}

uint32_t Translator::quantized_value(Node& quantized, const QuantParams& params) {
  if (params.kind != QuantParams::Kind::kPerTensor || params.scales != nullptr ||
      params.dtype != ScalarType::kChar) {
    refuse(quantized, "it is not statically quantized to int8 per tensor");
  }
  const PerTensor quantization = per_tensor(params);
  const auto found = values_.find(&quantized);
  if (found != values_.end()) {
    PayloadValue& value = graph_.values[found->second];
    if (const auto* known = std::get_if<PerTensor>(&value.quantization)) {
      if (!(*known == quantization))
        refuse(quantized, "it is quantized or dequantized with different parameters");
    } else {
      value.quantization = quantization;  // the spec of an input has no quantization parameters
    }
    return found->second;
  }
  PayloadValue value;
  value.datatype = Datatype::xnn_datatype_qint8;
  value.dims = dims_of(quantized);
  value.quantization = quantization;
  if (const TensorData* data = static_data(p_.program(), &quantized)) {
    return values_[&quantized] = add_constant(std::move(value), row_major_bytes(*data), &quantized);
  }
  return values_[&quantized] = graph_.add_value(std::move(value));
}

uint32_t Translator::dynamic_value(Node& quantize, int32_t nonbatch_dims) {
  const auto key = std::pair{static_cast<const Node*>(&quantize), nonbatch_dims};
  const auto found = dynamic_values_.find(key);
  if (found != dynamic_values_.end()) return found->second;
  Node& source = required(quantize, 0);
  PayloadValue value;
  value.datatype = Datatype::xnn_datatype_qdint8;
  value.dims = dims_of(source);
  value.quantization = PerToken{nonbatch_dims};
  const uint32_t id = graph_.add_value(std::move(value));
  PayloadNode convert = make(quantize, NodeKind::XNNConvert);
  // The conversion also computes the quantization parameters, so it gets the debug handles of the
  // calls that compute these parameters.
  for (const Node* input : quantize.inputs()) {
    if (!input->calls(getitem())) continue;
    add_handle(convert.handles, *input);
    if (const Node* choose = operand(*input, 0)) add_handle(convert.handles, *choose);
  }
  convert.inputs = {value_of(source)};
  convert.output = id;
  append(std::move(convert));
  return dynamic_values_[key] = id;
}

PayloadNode Translator::make(const Node& node, NodeKind kind) {
  PayloadNode made;
  made.kind = kind;
  const NodeNotes& notes = p_.notes(node);
  made.bounds = notes.bounds;
  made.handles = notes.handles;
  if (node.meta.debug_handle != 0) {
    made.handle = node.meta.debug_handle;
    made.handles.push_back(made.handle);
  }
  const auto quantize = quantized_results_.find(&node);
  if (quantize != quantized_results_.end()) add_handle(made.handles, *quantize->second);
  const bool is_int8 = quantize != quantized_results_.end();
  for (const Node* input : node.inputs()) {
    if (is_dequantize(*input) &&
        (is_int8 || is_dynamic(*input) || parameters_.has(operand(*input, 0)))) {
      add_handle(made.handles, *input);
    }
  }
  return made;
}

uint32_t Translator::input_of(const Node& node, Node& input) {
  if (!is_dequantize(input)) return value_of(input);
  Node& quantized = required(input, 0);
  if (is_dynamic(input)) {
    const bool is_convolution = calls_op(node, "convolution.default");
    return dynamic_value(quantized, is_convolution ? 3 : 1);
  }
  if (quantized_results_.contains(&node)) return quantized_value(quantized, quant_params(input));
  return value_of(input);
}

uint32_t Translator::output_of(const Node& node) {
  const auto quantize = quantized_results_.find(&node);
  if (quantize == quantized_results_.end()) return value_of(const_cast<Node&>(node));
  return value_of(*quantize->second);
}

void Translator::append_call(Node& node, PayloadNode made) {
  made.inputs.insert(made.inputs.begin(), input_of(node, required(node, 0)));
  made.output = output_of(node);
  append(std::move(made));
}

uint32_t Translator::output_like(const Node& node, std::vector<uint32_t> dims) {
  PayloadValue value = graph_.values[output_of(node)];
  value.output.reset();
  value.dims = std::move(dims);
  return graph_.add_value(std::move(value));
}

void Translator::add_inputs() {
  for (Node* node : p_.graph().placeholders()) {
    if (parameters_.has(node)) continue;
    const auto position = static_cast<uint32_t>(graph_.inputs.size());
    graph_.inputs.push_back(kNoValue);
    // The payload omits arguments that are not tensors or are not used.
    if (node->tensor() == nullptr || node->users().empty()) continue;
    uint32_t id = kNoValue;
    if (spec_of(*node).dtype == ScalarType::kChar) {
      PayloadValue value;
      value.datatype = Datatype::xnn_datatype_qint8;
      value.dims = dims_of(*node);
      id = values_[node] = graph_.add_value(std::move(value));
    } else {
      id = value_of(*node);
    }
    const std::vector<uint32_t> order = order_of(spec_of(*node));
    if (!order.empty() && order != kChannelsLast) {
      reorder_input(*node, position);
      continue;
    }
    graph_.values[id].input = position;
    graph_.values[id].is_channels_last = !order.empty();
    graph_.inputs[position] = id;
  }
}

void Translator::reorder_input(Node& node, uint32_t position) {
  const std::vector<uint32_t> order = order_of(spec_of(node));
  const uint32_t logical = values_.at(&node);
  PayloadValue value = graph_.values[logical];
  if (value.datatype == Datatype::xnn_datatype_qint8)
    refuse(node, "its dim order is not supported for int8");
  PayloadNode transpose;
  transpose.kind = NodeKind::XNNStaticTranspose;
  transpose.list.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    value.dims[i] = graph_.values[logical].dims[order[i]];
    transpose.list[order[i]] = i;
  }
  value.input = position;
  for (const Node* user : node.users()) add_handle(transpose.handles, *user);
  transpose.output = logical;
  transpose.inputs = {graph_.inputs[position] = graph_.add_value(std::move(value))};
  append(std::move(transpose));
}

void Translator::add_outputs() {
  const ArgumentList& results = *p_.graph().output()->need(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    Node* node = results[i].node();
    if (node == nullptr) refuse(*p_.graph().output(), "a result is not a tensor");
    if (!values_.contains(node) && !is_quantize(*node)) refuse(*node, "nothing computes it");
    graph_.outputs.push_back({value_of(*node), order_of(p_.outputs().at(i))});
  }
}

void Translator::translate_call(Node& node) {
  if (is_choose_params(node)) return;
  if (is_quantize(node)) return translate_quantize(node);
  if (is_dequantize(node)) return translate_dequantize(node);
  if (node.calls(getitem())) {
    const Node* source = operand(node, 0);
    if (source != nullptr && is_choose_params(*source)) return;
    refuse(node, "it selects one of several results, which is not supported");
  }
  const Operator* known = find_operator(op_name(node));
  if (known == nullptr || known->translate == nullptr) {
    refuse(node, "the operator is not supported");
  }
  known->translate(*this, node, known->kinds);
}

void Translator::translate_quantize(Node& node) {
  Node& source = required(node, 0);
  if (is_dynamic(node)) return;  // dynamic_value() makes a value for each use
  const auto of_source = quantized_results_.find(&source);
  if (of_source != quantized_results_.end() && of_source->second == &node) return;
  PayloadNode convert = make(node, NodeKind::XNNConvert);
  convert.inputs = {value_of(source)};
  convert.output = value_of(node);
  append(std::move(convert));
}

void Translator::translate_dequantize(Node& node) {
  Node& source = required(node, 0);
  if (is_dynamic(node) || parameters_.has(&source)) return;
  // Int8 calls read the quantized value. Other calls need the conversion.
  const bool is_read = std::ranges::any_of(
      node.users(), [&](const Node* user) { return !quantized_results_.contains(user); });
  if (!is_read) return;
  PayloadNode convert = make(node, NodeKind::XNNConvert);
  convert.inputs = {quantized_value(source, quant_params(node))};
  convert.output = value_of(node);
  append(std::move(convert));
}

}  // namespace vitrine::aot::xnnpack
