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

// Empty for the logical order.
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

BlobGraph translate(Preprocessing& p) { return Translator(p).run(); }

BlobGraph Translator::run() {
  add_inputs();
  each_call(p_.graph(), [&](Node& node) {
    if (Node* quantise = quantised_result(parameters_, node)) quantised_results_[&node] = quantise;
  });
  each_call(p_.graph(), [&](Node& node) { translate_call(node); });
  add_outputs();
  return std::move(blob_);
}

void Translator::refuse(const Node& node, std::string_view why) const {
  throw AotError(fmt::format("node {} ({}): it cannot be expressed for XNNPACK: {}", node.name(),
                             node.is_call() ? node.target().name() : "placeholder", why));
}

std::vector<uint32_t> Translator::dims_of(const Node& node) const {
  const TensorSpec& spec = spec_of(node);
  std::vector<uint32_t> dims;
  for (const SymInt& size : spec.sizes) {
    int64_t largest = 1;  // the run-time half sets the true sizes
    if (size.is_static()) {
      largest = size.value();
    } else {
      const Range range = bounds(size.expression(), p_.program().range_constraints);
      largest = range.max.value_or(std::max<int64_t>(range.min.value_or(1), 1));
      if (largest > std::numeric_limits<int32_t>::max()) {
        fail_at(node, fmt::format("its size {} may be {}; programs count in 32 bits", to_text(size),
                                  largest));
      }
    }
    dims.push_back(size_of(node, largest));
  }
  if (dims.empty()) dims.push_back(1);
  return dims;
}

Datatype Translator::float_datatype(const Node& node) const {
  const ScalarType dtype = spec_of(node).dtype;
  if (dtype == ScalarType::kFloat) return Datatype::xnn_datatype_fp32;
  if (dtype == ScalarType::kHalf) return Datatype::xnn_datatype_fp16;
  refuse(node, fmt::format("it is {}", scalar_type_name(dtype)));
}

uint32_t Translator::size_of(const Node& node, int64_t number) const {
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    refuse(node, fmt::format("{} is not a size", number));
  }
  return static_cast<uint32_t>(number);
}

uint32_t Translator::add_constant(BlobValue value, std::vector<std::byte> bytes,
                                  const Node* source) {
  if (source != nullptr) value.external_tag = source->meta.external_tag;
  value.data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return blob_.add_value(std::move(value));
}

uint32_t Translator::value_of(Node& node) {
  const auto found = values_.find(&node);
  if (found != values_.end()) return found->second;
  if (is_quantise(node) && !is_dynamic(node)) return quantised_value(node, quant_params(node));
  BlobValue value;
  value.datatype = float_datatype(node);
  value.dims = dims_of(node);
  uint32_t id = kNoValue;
  if (parameters_.has(&node)) {
    const std::vector<float> numbers = p_.floats(node);
    const bool is_half = value.datatype == Datatype::xnn_datatype_fp16;
    id = add_constant(value, is_half ? bytes_of_halves(numbers) : bytes_of_floats(numbers), &node);
  } else {
    id = blob_.add_value(std::move(value));
  }
  return values_[&node] = id;
}

uint32_t Translator::quantised_value(Node& quantised, const QuantParams& params) {
  if (params.kind != QuantParams::Kind::kPerTensor || params.scales != nullptr ||
      params.dtype != ScalarType::kChar) {
    refuse(quantised, "it is not quantised to int8 with fixed numbers");
  }
  const PerTensor quantisation = per_tensor(params);
  const auto found = values_.find(&quantised);
  if (found != values_.end()) {
    BlobValue& value = blob_.values[found->second];
    if (const auto* known = std::get_if<PerTensor>(&value.quantisation)) {
      if (!(*known == quantisation)) refuse(quantised, "it is read with different parameters");
    } else {
      value.quantisation = quantisation;  // an input, which itself does not tell them
    }
    return found->second;
  }
  BlobValue value;
  value.datatype = Datatype::xnn_datatype_qint8;
  value.dims = dims_of(quantised);
  value.quantisation = quantisation;
  if (const TensorData* data = static_data(p_.program(), &quantised)) {
    return values_[&quantised] = add_constant(std::move(value), row_major_bytes(*data), &quantised);
  }
  return values_[&quantised] = blob_.add_value(std::move(value));
}

uint32_t Translator::dynamic_value(Node& quantise, int32_t nonbatch_dims) {
  const auto key = std::pair{static_cast<const Node*>(&quantise), nonbatch_dims};
  const auto found = dynamic_values_.find(key);
  if (found != dynamic_values_.end()) return found->second;
  Node& source = required(quantise, 0);
  BlobValue value;
  value.datatype = Datatype::xnn_datatype_qdint8;
  value.dims = dims_of(source);
  value.quantisation = PerToken{nonbatch_dims};
  const uint32_t id = blob_.add_value(std::move(value));
  BlobNode convert = make(quantise, NodeKind::XNNConvert);
  // The calls that choose the parameters run within it.
  for (const Node* input : quantise.inputs()) {
    if (!input->calls(getitem())) continue;
    add_handle(convert.handles, *input);
    if (const Node* choose = operand(*input, 0)) add_handle(convert.handles, *choose);
  }
  convert.inputs = {value_of(source)};
  convert.output = id;
  append(std::move(convert));
  return dynamic_values_[key] = id;
}

BlobNode Translator::make(const Node& node, NodeKind kind) {
  BlobNode made;
  made.kind = kind;
  const NodeNotes& notes = p_.notes(node);
  made.bounds = notes.bounds;
  made.handles = notes.handles;
  if (node.meta.debug_handle != 0) {
    made.handle = node.meta.debug_handle;
    made.handles.push_back(made.handle);
  }
  const auto quantise = quantised_results_.find(&node);
  if (quantise != quantised_results_.end()) add_handle(made.handles, *quantise->second);
  const bool is_int8 = quantise != quantised_results_.end();
  for (const Node* input : node.inputs()) {
    if (is_dequantise(*input) &&
        (is_int8 || is_dynamic(*input) || parameters_.has(operand(*input, 0)))) {
      add_handle(made.handles, *input);
    }
  }
  return made;
}

uint32_t Translator::input_of(const Node& node, Node& input) {
  if (!is_dequantise(input)) return value_of(input);
  Node& quantised = required(input, 0);
  if (is_dynamic(input)) {
    const bool is_convolution = calls_op(node, "convolution.default");
    return dynamic_value(quantised, is_convolution ? 3 : 1);
  }
  if (quantised_results_.contains(&node)) return quantised_value(quantised, quant_params(input));
  return value_of(input);
}

uint32_t Translator::output_of(const Node& node) {
  const auto quantise = quantised_results_.find(&node);
  if (quantise == quantised_results_.end()) return value_of(const_cast<Node&>(node));
  return value_of(*quantise->second);
}

void Translator::append_call(Node& node, BlobNode made) {
  made.inputs.insert(made.inputs.begin(), input_of(node, required(node, 0)));
  made.output = output_of(node);
  append(std::move(made));
}

uint32_t Translator::output_like(const Node& node, std::vector<uint32_t> dims) {
  BlobValue value = blob_.values[output_of(node)];
  value.output.reset();
  value.dims = std::move(dims);
  return blob_.add_value(std::move(value));
}

void Translator::add_inputs() {
  for (Node* node : p_.graph().placeholders()) {
    if (parameters_.has(node)) continue;
    const auto position = static_cast<uint32_t>(blob_.inputs.size());
    blob_.inputs.push_back(kNoValue);
    // An argument of which only the sizes are used, or nothing, has no value.
    if (node->tensor() == nullptr || node->users().empty()) continue;
    uint32_t id = kNoValue;
    if (spec_of(*node).dtype == ScalarType::kChar) {
      BlobValue value;
      value.datatype = Datatype::xnn_datatype_qint8;
      value.dims = dims_of(*node);
      id = values_[node] = blob_.add_value(std::move(value));
    } else {
      id = value_of(*node);
    }
    const std::vector<uint32_t> order = order_of(spec_of(*node));
    if (!order.empty() && order != kChannelsLast) {
      reorder_input(*node, position);
      continue;
    }
    blob_.values[id].input = position;
    blob_.values[id].is_channels_last = !order.empty();
    blob_.inputs[position] = id;
  }
}

void Translator::reorder_input(Node& node, uint32_t position) {
  const std::vector<uint32_t> order = order_of(spec_of(node));
  const uint32_t logical = values_.at(&node);
  BlobValue value = blob_.values[logical];
  if (value.datatype == Datatype::xnn_datatype_qint8) refuse(node, "the order of its dims");
  BlobNode transpose;
  transpose.kind = NodeKind::XNNStaticTranspose;
  transpose.list.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    value.dims[i] = blob_.values[logical].dims[order[i]];
    transpose.list[order[i]] = i;
  }
  value.input = position;
  for (const Node* user : node.users()) add_handle(transpose.handles, *user);
  transpose.output = logical;
  transpose.inputs = {blob_.inputs[position] = blob_.add_value(std::move(value))};
  append(std::move(transpose));
}

void Translator::add_outputs() {
  const ArgumentList& results = *p_.graph().output()->need(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    Node* node = results[i].node();
    if (node == nullptr) refuse(*p_.graph().output(), "a result is not a tensor");
    if (!values_.contains(node) && !is_quantise(*node)) refuse(*node, "nothing computes it");
    blob_.outputs.push_back({value_of(*node), order_of(p_.outputs().at(i))});
  }
}

void Translator::translate_call(Node& node) {
  if (is_choose_params(node)) return;
  if (is_quantise(node)) return translate_quantise(node);
  if (is_dequantise(node)) return translate_dequantise(node);
  if (node.calls(getitem())) {
    const Node* source = operand(node, 0);
    if (source != nullptr && is_choose_params(*source)) return;
    refuse(node, "it takes one of several results");
  }
  const Operator* known = find_operator(op_name(node));
  if (known == nullptr || known->translate == nullptr) {
    refuse(node, "no such operator");
  }
  known->translate(*this, node, known->kinds);
}

void Translator::translate_quantise(Node& node) {
  Node& source = required(node, 0);
  if (is_dynamic(node)) return;  // made where it is used, in the form that is wanted there
  const auto of_source = quantised_results_.find(&source);
  if (of_source != quantised_results_.end() && of_source->second == &node) return;
  BlobNode convert = make(node, NodeKind::XNNConvert);
  convert.inputs = {value_of(source)};
  convert.output = value_of(node);
  append(std::move(convert));
}

void Translator::translate_dequantise(Node& node) {
  Node& source = required(node, 0);
  if (is_dynamic(node) || parameters_.has(&source)) return;
  // Calls that run in int8 read the quantised value.
  const bool is_read = std::ranges::any_of(
      node.users(), [&](const Node* user) { return !quantised_results_.contains(user); });
  if (!is_read) return;
  BlobNode convert = make(node, NodeKind::XNNConvert);
  convert.inputs = {quantised_value(source, quant_params(node))};
  convert.output = value_of(node);
  append(std::move(convert));
}

}  // namespace vitrine::aot::xnnpack
