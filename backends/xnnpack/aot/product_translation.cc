#include <fmt/format.h>

#include <algorithm>

#include "backends/xnnpack/aot/translations.h"
#include "backends/xnnpack/aot/translator.h"
#include "backends/xnnpack/aot/weights.h"

namespace vitrine::aot::xnnpack {
namespace {

using Kind = QuantParams::Kind;

struct Weights {
  Product product;
  const Node* source = nullptr;
  std::optional<QuantParams> params;
  std::vector<float> scales;  // a single scale, or one scale per channel or block
  // Types of the weight and the bias of a float linear layer. A bf16 layer has an f32 bias.
  Datatype matrix_type = Datatype::xnn_datatype_fp32;
  Datatype bias_type = Datatype::xnn_datatype_fp32;
};

Weights read_weights(Translator& t, Node& node) {
  Weights weights;
  const std::optional<Product> product = product_of(node);
  if (!product) t.refuse(node, "the operands are not tensors");
  weights.product = *product;
  weights.source = product->weight_source();
  if (product->precision == kStatic && !t.is_quantized(node)) {
    t.refuse(node, "the weight is quantized but the result is not");
  }
  if (product->precision == kFloat) {
    weights.matrix_type = t.datatype_of(node);
    const bool is_half = weights.matrix_type == Datatype::xnn_datatype_fp16;
    weights.bias_type = is_half ? weights.matrix_type : Datatype::xnn_datatype_fp32;
  }
  if (Node* dequantize = product->weight_dequantize()) {
    weights.params = quant_params(*dequantize);
    weights.scales = weights.params->scales == nullptr
                         ? std::vector{static_cast<float>(weights.params->scale)}
                         : t.preprocessing().floats(*weights.params->scales);
    if (weights.scales.empty() ||
        (weights.params->kind == Kind::kPerTensor && weights.scales.size() != 1)) {
      t.refuse(node, fmt::format("its weight has the wrong number of scales ({})",
                                 weights.scales.size()));
    }
  }
  return weights;
}

const TensorData& data_of(Translator& t, const Node& node, const Node& source) {
  const TensorData* data = static_data(t.preprocessing().program(), &source);
  if (data == nullptr) t.refuse(node, fmt::format("{} is not a constant", source.name()));
  return *data;
}

float input_scale(const Weights& weights) {
  return static_cast<float>(quant_params(*weights.product.dequantized).scale);
}

std::vector<uint32_t> dims_of(const TensorData& data) {
  std::vector<uint32_t> dims;
  for (const int64_t size : data.sizes) dims.push_back(static_cast<uint32_t>(size));
  return dims;
}

uint32_t add_bias(Translator& t, Node& node, const Weights& weights, bool as_floats) {
  Node* bias = weights.product.bias;
  if (bias == nullptr) return kNoValue;
  if (static_data(t.preprocessing().program(), bias) == nullptr) return t.input_of(node, *bias);
  const std::vector<float> numbers = t.preprocessing().floats(*bias);
  PayloadValue value;
  value.dims = {static_cast<uint32_t>(numbers.size())};
  if (weights.product.precision != kStatic) {
    value.datatype = as_floats ? Datatype::xnn_datatype_fp32 : weights.bias_type;
    return t.add_constant(value, float_bytes(value.datatype, numbers), bias);
  }
  std::vector<float> scales = weights.scales;
  if (scales.size() != 1 && scales.size() != numbers.size()) {
    t.refuse(node, "it has different numbers of scales and biases");
  }
  for (float& scale : scales) scale *= input_scale(weights);
  Bytes bytes = quantized_bias(numbers, scales);
  if (weights.params->kind == Kind::kPerTensor) {
    value.datatype = Datatype::xnn_datatype_qint32;
    value.quantization = PerTensor{scales.front(), 0};
  } else {
    if (scales.size() != numbers.size())
      t.refuse(node, "it has different numbers of scales and biases");
    value.datatype = Datatype::xnn_datatype_qcint32;
    value.quantization = PerChannel{scales, 0};
  }
  return t.add_constant(std::move(value), std::move(bytes), bias);
}

void set_quantization(Translator& t, Node& node, const Weights& weights, int32_t channel_dim,
                      PayloadValue& value) {
  const QuantParams& params = *weights.params;
  if (params.kind == Kind::kPerTensor) {
    value.datatype = Datatype::xnn_datatype_qint8;
    value.quantization = PerTensor{weights.scales.front(), static_cast<int32_t>(params.zero_point)};
    return;
  }
  if (value.dims.at(static_cast<size_t>(channel_dim)) != weights.scales.size()) {
    t.refuse(node, "it has different numbers of scales and channels");
  }
  value.datatype = Datatype::xnn_datatype_qcint8;
  value.quantization = PerChannel{weights.scales, channel_dim};
}

uint32_t add_matrix(Translator& t, Node& node, const Weights& weights) {
  if (!static_data(t.preprocessing().program(), weights.source)) {
    return t.input_of(node, *weights.product.weight);
  }
  const TensorData& data = data_of(t, node, *weights.source);
  PayloadValue value;
  value.dims = dims_of(data);
  if (value.dims.size() != 2) t.refuse(node, "its weight is not a matrix");
  if (!weights.params) {
    const std::vector<float> numbers = t.preprocessing().floats(*weights.source);
    value.datatype = weights.matrix_type;
    return t.add_constant(value, float_bytes(value.datatype, numbers), weights.source);
  }
  Bytes bytes = row_major_bytes(data);
  const QuantParams& params = *weights.params;
  const bool is_int4 = params.quant_min == -8 && params.quant_max == 7;
  if (params.kind == Kind::kPerBlock) {
    const auto size = static_cast<uint32_t>(params.block_size);
    if (value.dims[1] % size != 0 ||
        weights.scales.size() != size_t{value.dims[0]} * (value.dims[1] / size)) {
      t.refuse(node, "it has different numbers of scales and blocks");
    }
    value.datatype = Datatype::xnn_datatype_qbint4;
    value.quantization = PerBlock{to_bfloat16(weights.scales), static_cast<int32_t>(size)};
    bytes = packed_int4(bytes, value.dims[1]);
  } else {
    set_quantization(t, node, weights, 0, value);
    if (is_int4 && params.kind == Kind::kPerChannel) {
      value.datatype = Datatype::xnn_datatype_qcint4;
      bytes = packed_int4(bytes, value.dims[1]);
    }
  }
  return t.add_constant(std::move(value), std::move(bytes), weights.source);
}

// Reads a (height, width) argument of a convolution with `dims` spatial dims.
std::vector<int64_t> pair_of(const Node& node, std::string_view name, int64_t fallback,
                             size_t dims) {
  std::vector<int64_t> pair = Call(node).integers(name);
  if (pair.empty()) pair = {fallback};
  // The single number of a 1-d convolution is the height; `fallback` is the width.
  if (pair.size() == 1) pair.push_back(dims == 2 ? pair[0] : fallback);
  return pair;
}

// Reshapes [n, c, l] to [n, c, l, 1] and [n, c] to [n, c, 1, 1].
uint32_t add_image(Translator& t, Node& node, uint32_t input) {
  PayloadValue value = t.graph().values[input];
  if (value.dims.size() == 4) return input;
  value.input.reset();
  value.dims.resize(4, 1);
  PayloadNode reshape;
  reshape.kind = NodeKind::XNNStaticReshape;
  reshape.handles = {node.meta.debug_handle};
  const std::vector<SymInt>& sizes = spec_of(required(node, 0)).sizes;
  for (size_t i = 0; i < 4; ++i) {
    reshape.list.push_back(i < sizes.size() && !sizes[i].is_static() ? 0 : value.dims[i]);
  }
  if (std::ranges::count(reshape.list, 0U) > 1) t.refuse(node, "more than one size is dynamic");
  reshape.inputs = {input};
  const uint32_t output = t.graph().add_value(std::move(value));
  reshape.output = output;
  t.append(std::move(reshape));
  return output;
}

void append_flattened(Translator& t, Node& node, PayloadNode made) {
  std::vector<uint32_t> dims = t.dims_of(node);
  const size_t rank = dims.size();
  const std::vector<SymInt>& sizes = spec_of(node).sizes;
  if (rank == 4) {
    made.output = t.output_of(node);
    t.append(std::move(made));
    return;
  }
  PayloadNode reshape;
  reshape.kind = NodeKind::XNNStaticReshape;
  reshape.handles = {node.meta.debug_handle};
  for (size_t i = 0; i < rank; ++i) {
    reshape.list.push_back(i >= sizes.size() || sizes[i].is_static() ? dims[i] : 0);
  }
  if (std::ranges::count(reshape.list, 0U) > 1) t.refuse(node, "more than one size is dynamic");
  dims.resize(4, 1);
  made.output = t.output_like(node, std::move(dims));
  reshape.inputs = {made.output};
  reshape.output = t.output_of(node);
  t.append(std::move(made));
  t.append(std::move(reshape));
}

uint32_t add_filter(Translator& t, Node& node, const Weights& weights, const FilterShape& shape) {
  const TensorData& data = data_of(t, node, *weights.source);
  // XNNPACK expects filters of f16 convolutions in f32.
  const Bytes bytes = weights.params ? row_major_bytes(data)
                                     : bytes_of_floats(t.preprocessing().floats(*weights.source));
  ArrangedFilter filter = arranged_filter(bytes, weights.params ? 1 : sizeof(float), shape);
  PayloadValue value;
  value.dims = filter.dims;
  if (weights.params) set_quantization(t, node, weights, filter.channel_dim, value);
  return t.add_constant(std::move(value), std::move(filter.bytes), weights.source);
}

}  // namespace

void translate_linear(Translator& t, Node& node, const NodeKinds& kinds) {
  const Weights weights = read_weights(t, node);
  PayloadNode made = t.make(node, kinds[0]);
  const bool is_product_of_rows = !calls_op(node, "linear.default");
  if (is_product_of_rows && weights.product.transposition == nullptr) {
    made.flags = kTransposeWeights;
  }
  const uint32_t input = t.input_of(node, *weights.product.activation);
  const uint32_t matrix = add_matrix(t, node, weights);
  made.inputs = {input, matrix, add_bias(t, node, weights, false)};
  made.output = t.output_of(node);
  t.append(std::move(made));
}

void translate_convolution(Translator& t, Node& node, const NodeKinds& kinds) {
  const Weights weights = read_weights(t, node);
  const TensorData& data = data_of(t, node, *weights.source);
  FilterShape shape;
  shape.dims = dims_of(data);
  const size_t dims = shape.dims.size() == 3 ? 1 : 2;
  if (dims == 1) shape.dims.push_back(1);
  shape.is_transposed = Call(node).boolean("transposed");
  const int64_t groups = Call(node).integer("groups");
  const int64_t split = shape.dims.empty() ? 0 : static_cast<int64_t>(shape.dims[0]);
  if (shape.dims.size() != 4 || groups < 1 || split % groups != 0) {
    t.refuse(node, "dim 0 of its weight is not divisible by the number of groups");
  }
  shape.groups = static_cast<uint32_t>(groups);
  const auto& [plain, depthwise, transposed, none] = kinds;
  NodeKind kind = shape.is_transposed ? transposed : plain;
  if (shape.is_depthwise()) kind = depthwise;

  const std::vector<int64_t> stride = pair_of(node, "stride", 1, dims);
  const std::vector<int64_t> padding = pair_of(node, "padding", 0, dims);
  const std::vector<int64_t> dilation = pair_of(node, "dilation", 1, dims);
  const std::vector<int64_t> adjustment = pair_of(node, "output_padding", 0, dims);
  const auto size = [&](int64_t number) { return t.size_of(node, number); };
  const uint32_t image = add_image(t, node, t.input_of(node, *weights.product.activation));
  PayloadNode made = t.make(node, kind);
  made.window = {size(padding[0]),  size(padding[1]), size(padding[0]), size(padding[1]),
                 shape.dims[2],     shape.dims[3],    size(stride[0]),  size(stride[1]),
                 size(dilation[0]), size(dilation[1])};
  made.groups = shape.groups;
  const uint32_t first = shape.dims[0] / shape.groups;
  made.group_input_channels = shape.is_transposed ? first : shape.dims[1];
  made.group_output_channels = shape.is_transposed ? shape.dims[1] : first;
  if (shape.is_transposed) {
    made.adjustment_height = size(adjustment[0]);
    made.adjustment_width = size(adjustment[1]);
  }
  const uint32_t filter = add_filter(t, node, weights, shape);
  made.inputs = {image, filter, add_bias(t, node, weights, true)};
  append_flattened(t, node, std::move(made));
}

}  // namespace vitrine::aot::xnnpack
