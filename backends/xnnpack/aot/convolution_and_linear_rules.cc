#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantization.h"

namespace vitrine::aot::xnnpack {
namespace {

using Kind = QuantParams::Kind;
using Nodes = std::vector<Node*>;

bool is_fused_activation(const Node& node) {
  const std::optional<Bounds> bounds = activation_bounds(node);
  return bounds.has_value() && bounds->min <= bounds->max;
}

std::optional<Rejection> about(std::string_view operand, std::optional<Rejection> rejection) {
  if (rejection) rejection->rule = fmt::format("its {}: {}", operand, rejection->rule);
  return rejection;
}

// The calls after a product. A member is null if its call is missing, or if the call before it has
// several users.
struct Tail {
  Node* activation = nullptr;
  Node* quantize = nullptr;
};
Tail tail_of(const Node& node) {
  Tail tail;
  if (node.users().size() != 1) return tail;
  Node* user = node.users().front();
  if (is_fused_activation(*user)) {
    tail.activation = user;
    if (user->users().size() != 1) return tail;
    user = user->users().front();
  }
  if (is_quantize(*user)) tail.quantize = user;
  return tail;
}

bool is_all_zero(const TensorData& data) {
  return std::ranges::all_of(row_major_bytes(data), [](std::byte b) { return b == std::byte{0}; });
}

bool may_compute_weights(const Candidate& candidate, const Product& product) {
  return product.precision == kFloat && candidate.allows_dynamic_weights &&
         !calls_op(candidate.node, "convolution.default");
}

// A partitioner that supports only floats leaves the dequantize call of a linear layer's weight
// outside of the partition.
bool computes_in_floats(const Candidate& candidate, const Product& product) {
  return candidate.precisions == kFloat && product.precision != kFloat &&
         calls_op(candidate.node, "linear.default");
}

std::optional<Rejection> check_weight(const Candidate& candidate, const Product& product) {
  if (may_compute_weights(candidate, product)) return {};
  const Node* source = product.weight_source();
  if (!candidate.parameters.has(source)) {
    return Rejection{fmt::format("its weight {} is computed, or written to, when the program runs",
                                 source == nullptr ? "" : source->name()),
                     "make the weight a parameter"};
  }
  Node* dequantize = product.weight_dequantize();
  if (dequantize == nullptr) return {};
  const QuantParams params = quant_params(*dequantize);
  if (params.kind == Kind::kPerToken || params.dtype != ScalarType::kChar) {
    return Rejection{"the weight is quantized in a way that XNNPACK does not support",
                     "quantize the weight to int8 per tensor or per channel"};
  }
  const TensorData* zero_points = candidate.parameters.find(params.zero_points);
  if (params.zero_point != 0 || (zero_points != nullptr && !is_all_zero(*zero_points))) {
    return Rejection{"its weight is quantized with zero points other than 0",
                     "quantize weights symmetrically"};
  }
  if (params.kind == Kind::kPerTensor && product.precision == kDynamic) {
    return Rejection{"a dynamically quantized call needs a weight quantized per channel or block",
                     "quantize the weight per channel"};
  }
  if (params.kind == Kind::kPerBlock &&
      (product.precision != kDynamic || params.block_size <= 0 || params.block_size % 32 != 0 ||
       params.quant_min != -8 || params.quant_max != 7)) {
    return Rejection{
        "blockwise weights must be int4 with a block size that is a multiple of 32, and "
        "activations must "
        "be quantized dynamically",
        "choose blocks of 32, and quantize activations dynamically"};
  }
  const bool has_tensors = params.kind != Kind::kPerTensor;
  if (has_tensors &&
      (!candidate.parameters.has(params.scales) ||
       (params.zero_points != nullptr && !candidate.parameters.has(params.zero_points)))) {
    return Rejection{"the scales of its weight are computed when the program runs",
                     "make the scales constants"};
  }
  const std::vector<float> scales = weight_scales(candidate.parameters, params);
  if (!std::ranges::all_of(scales, [](float s) { return std::isnormal(s) && s > 0; })) {
    return Rejection{"a scale of its weight is not positive and normal", ""};
  }
  return {};
}

std::optional<Rejection> check_activation(const Product& product) {
  if (product.precision == kFloat) return {};
  if (product.dequantized == nullptr) {
    return Rejection{"the weight is quantized but the input is not", "quantize the input too"};
  }
  if (product.precision == kStatic) return about("input", check_int8(*product.dequantized));
  const Node* quantize = operand(*product.dequantized, 0);
  if (quantize == nullptr || !is_quantize(*quantize) || product.padding != nullptr ||
      spec_of(*quantize).dtype != ScalarType::kChar) {
    return Rejection{"its input does not come directly from a dynamic quantization to int8", ""};
  }
  return about("input", check_range(*quantize));
}

std::optional<Rejection> check_result(const Candidate& candidate, const Product& product) {
  if (product.precision != kStatic) return {};
  const Tail tail = tail_of(*product.node);
  if (tail.quantize == nullptr) {
    return Rejection{
        "input and weight are quantized to int8, but the result is not quantized, or is used twice",
        "quantize the result too"};
  }
  if (auto rejection = about("result", check_int8(*tail.quantize))) return rejection;
  return check_numbers(candidate, product, tail.activation, *tail.quantize);
}

std::optional<Rejection> check_product(const Candidate& candidate) {
  const std::optional<Product> product = product_of(candidate.node);
  if (!product) return Rejection{"the operands are not tensors", ""};
  const bool as_float = computes_in_floats(candidate, *product);
  if (!as_float && (candidate.precisions & product->precision) == 0) {
    return Rejection{"this partitioner does not support the precision of the call",
                     "use a partitioner that supports all precisions"};
  }
  if (product->bias != nullptr && !candidate.parameters.has(product->bias) &&
      !may_compute_weights(candidate, *product)) {
    return Rejection{"its bias is computed, or written to, when the program runs",
                     "make the bias a parameter"};
  }
  if (as_float) return {};
  if (auto rejection = check_weight(candidate, *product)) return rejection;
  if (auto rejection = check_activation(*product)) return rejection;
  return check_result(candidate, *product);
}

std::optional<Rejection> check_bias(const Product& product) {
  if (product.bias == nullptr) return {};
  const TensorSpec& bias = spec_of(*product.bias);
  if (bias.rank() == 1 && bias.sizes[0] == spec_of(*product.node).sizes.back()) return {};
  return Rejection{"its bias does not have one element per output", "expand the bias"};
}

// Returns true if both nodes come from the same call of the model, or if an origin is unknown.
bool have_same_origin(const Node& a, const Node& b) {
  if (a.meta.origin == nullptr || b.meta.origin == nullptr) return true;
  const Origin& of_a = *a.meta.origin;
  const Origin& of_b = *b.meta.origin;
  return of_a.source_fn_stack == of_b.source_fn_stack && of_a.torch_fn == of_b.torch_fn;
}

bool all_are(const Parameters& parameters, std::initializer_list<const Node*> nodes) {
  return std::ranges::all_of(nodes, [&](const Node* node) { return parameters.has(node); });
}

// XNNPACK's reshape to four dims can infer only one dynamic size.
bool needs_two_sizes(const TensorSpec& spec) { return spec.rank() < 4 && count_dynamic(spec) > 1; }

bool is_extended_below_stride(const Node& node, size_t dims) {
  const std::vector<int64_t> strides = Call(node).integers("stride", dims);
  const std::vector<int64_t> extensions = Call(node).integers("output_padding", dims);
  return std::ranges::equal(extensions, strides, std::less<>());
}

}  // namespace

std::optional<Rejection> check_convolution(const Candidate& candidate) {
  if (auto rejection = check_product(candidate)) return rejection;
  const Product product = *product_of(candidate.node);
  const Node& node = candidate.node;
  const TensorSpec& weight = spec_of(*product.weight);
  const size_t spatial = Call(node).integers("stride").size();
  if (weight.rank() != 3 && weight.rank() != 4) {
    return Rejection{"XNNPACK supports only 1-d and 2-d convolutions", ""};
  }
  if (spatial > 2 || spec_of(*product.activation).rank() != weight.rank()) {
    return Rejection{"its input and its weight differ in rank", "give the input a batch dim"};
  }
  if (needs_two_sizes(spec_of(*product.activation)) || needs_two_sizes(spec_of(node))) {
    return Rejection{"more than one of its sizes is known only when the program runs",
                     "export the model with at most one dynamic size in this input"};
  }
  const bool is_transposed = Call(node).boolean("transposed");
  if (is_transposed && !is_extended_below_stride(node, weight.rank() - 2)) {
    return Rejection{"its output_padding is not less than its stride", "pad the result"};
  }
  const int64_t groups = Call(node).integer("groups");
  const bool is_depthwise =
      weight.sizes[is_transposed ? 0 : 1] == SymInt(is_transposed ? groups : 1);
  if (product.precision == kDynamic && (weight.rank() != 4 || is_depthwise)) {
    return Rejection{
        "XNNPACK supports dynamic quantization only for 2-d convolutions that are not depthwise",
        "quantize the convolution statically, or leave it in floats"};
  }
  if (Node* dequantize = product.weight_dequantize()) {
    const QuantParams params = quant_params(*dequantize);
    if (params.kind == Kind::kPerBlock) {
      return Rejection{"only linear calls support blockwise weights",
                       "quantize the weight per channel"};
    }
    if (params.kind == Kind::kPerChannel && is_transposed && (params.axis != 1 || groups != 1)) {
      return Rejection{
          "a transposed convolution quantized per channel must have one group, and its weight must "
          "be quantized along dim 1",
          "quantize the weight per tensor"};
    }
    if (params.kind == Kind::kPerChannel && !is_transposed && params.axis != 0) {
      return Rejection{"its weight is quantized along a dim other than its output channels",
                       "quantize the weight along dim 0"};
    }
  }
  const std::vector<int64_t> padding = Call(node).integers("padding");
  if (std::ranges::any_of(padding, [](int64_t p) { return p < 0; })) {
    return Rejection{"its padding is negative", "slice the input"};
  }
  return {};
}

std::optional<Rejection> check_linear(const Candidate& candidate) {
  if (auto rejection = check_product(candidate)) return rejection;
  const Product product = *product_of(candidate.node);
  if (calls_op(candidate.node, "linear.default")) {
    if (spec_of(*product.weight).rank() != 2) {
      return Rejection{"its weight is not a matrix", "give the weight two dims"};
    }
    if (auto rejection = check_bias(product)) return rejection;
  }
  if (computes_in_floats(candidate, product)) return {};
  if (Node* dequantize = product.weight_dequantize()) {
    const QuantParams params = quant_params(*dequantize);
    if (params.kind == Kind::kPerChannel && params.axis != 0) {
      return Rejection{"its weight is quantized along a dim other than its output features",
                       "quantize the weight along dim 0"};
    }
  }
  return {};
}

std::optional<Rejection> check_matrix_product(const Candidate& candidate) {
  if (auto rejection = check_linear(candidate)) return rejection;
  const Product product = *product_of(candidate.node);
  if (Call(candidate.node).real("beta", 1.0) != 1.0 ||
      Call(candidate.node).real("alpha", 1.0) != 1.0) {
    if (product.bias != nullptr) return Rejection{"its alpha or beta is not 1", ""};
  }
  if (product.bias != nullptr && spec_of(*product.bias).rank() != 1) {
    return Rejection{"the added operand is not a vector", "add this operand in a separate call"};
  }
  if (auto rejection = check_bias(product)) return rejection;
  // ExecuTorch treats a weight as computed if the model transposes it in a separate call.
  if (product.transposition != nullptr &&
      !have_same_origin(*product.transposition, *product.node)) {
    return Rejection{"the model transposes the weight in a separate call",
                     "use torch.nn.functional.linear"};
  }
  if (product.precision != kFloat && product.transposition == nullptr) {
    return Rejection{"its quantized weight is not transposed", "keep linear from being decomposed"};
  }
  return {};
}

std::vector<Node*> group_product(const Candidate& candidate) {
  const std::optional<Product> product = product_of(candidate.node);
  Nodes group = {&candidate.node};
  if (!product) return group;
  const auto add = [&](Node* node) {
    if (node != nullptr && std::ranges::find(group, node) == group.end()) group.push_back(node);
  };
  if (candidate.parameters.has(product->bias)) add(product->bias);
  const Tail tail = tail_of(candidate.node);
  if (computes_in_floats(candidate, *product)) {
    add(tail.activation);
    return group;
  }
  const bool has_weight = candidate.parameters.has(product->weight_source());
  if (has_weight) {
    add(product->transposition);
    if (Node* dequantize = product->weight_dequantize()) {
      add(dequantize);
      for (Node* input : dequantize->inputs()) add(input);
    }
    add(product->weight_source());
  }
  if (product->precision == kFloat) {
    add(tail.activation);
    return group;
  }
  add(product->padding);
  add(product->dequantized);
  if (product->precision == kStatic) {
    add(tail.activation);
    add(tail.quantize);
    return group;
  }
  Node* quantize = operand(*product->dequantized, 0);
  add(quantize);
  for (Node* input : product->dequantized->inputs()) {
    if (!input->calls(getitem())) continue;
    add(input);
    add(operand(*input, 0));
  }
  return group;
}

std::optional<Rejection> check_batch_norm(const Candidate& candidate) {
  const Node& node = candidate.node;
  for (const Node* user : node.users()) {
    if (!user->calls(getitem()) || item_index(*user) != 0) {
      return Rejection{"a result other than its first is used", ""};
    }
  }
  Node* weight = operand(node, "weight");
  Node* bias = operand(node, "bias");
  if (!all_are(candidate.parameters,
               {operand(node, "running_mean"), operand(node, "running_var")}) ||
      (weight != nullptr && !all_are(candidate.parameters, {weight})) ||
      (bias != nullptr && !all_are(candidate.parameters, {bias}))) {
    return Rejection{"its parameters are computed, or written to, when the program runs",
                     "export the model in evaluation mode"};
  }
  const TensorSpec& input = spec_of(required(node, 0));
  if (needs_two_sizes(input)) {
    return Rejection{"more than one of its sizes is known only when the program runs",
                     "export the model with at most one dynamic size in this input"};
  }
  if (can_fold_batch_norm(candidate.parameters, node)) return {};
  if (input.rank() < 2 || input.rank() > 4) {
    return Rejection{fmt::format("its input has {} dims, not 2, 3 or 4", input.rank()), ""};
  }
  if (!input.sizes[1].is_static()) {
    return Rejection{"its number of channels is known only when the program runs", ""};
  }
  return {};
}

std::vector<Node*> group_batch_norm(const Candidate& candidate) {
  Nodes group = {&candidate.node};
  for (size_t i = 1; i < 5; ++i) {
    Node* parameter = operand(candidate.node, i);
    if (parameter != nullptr && std::ranges::find(group, parameter) == group.end()) {
      group.push_back(parameter);
    }
  }
  group.insert(group.end(), candidate.node.users().begin(), candidate.node.users().end());
  return group;
}

}  // namespace vitrine::aot::xnnpack
