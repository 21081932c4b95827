#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantisation.h"

namespace vitrine::aot::xnnpack {
namespace {

using Kind = QuantParams::Kind;
using Nodes = std::vector<Node*>;

bool is_fused_activation(const Node& node) {
  const std::optional<Bounds> bounds = activation_bounds(node);
  return bounds.has_value() && bounds->min <= bounds->max;
}

std::optional<Refusal> about(std::string_view operand, std::optional<Refusal> refusal) {
  if (refusal) refusal->rule = fmt::format("its {}: {}", operand, refusal->rule);
  return refusal;
}

// The quantise call behind a call with one user, and the activation between.
struct Tail {
  Node* activation = nullptr;
  Node* quantise = nullptr;
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
  if (is_quantise(*user)) tail.quantise = user;
  return tail;
}

bool is_all_zero(const TensorData& data) {
  return std::ranges::all_of(row_major_bytes(data), [](std::byte b) { return b == std::byte{0}; });
}

// Only for matrix products in floats, if the partitioner's options allow it.
bool may_compute_weights(const Candidate& candidate, const Product& product) {
  return product.precision == kFloat && candidate.allows_dynamic_weights &&
         !calls_op(candidate.node, "convolution.default");
}

// To a partitioner for floats alone, a linear call with a quantised weight is one that computes in
// floats, with a weight that is dequantised outside.
bool is_taken_as_float(const Candidate& candidate, const Product& product) {
  return candidate.precisions == kFloat && product.precision != kFloat &&
         calls_op(candidate.node, "linear.default");
}

std::optional<Refusal> check_weight(const Candidate& candidate, const Product& product) {
  if (may_compute_weights(candidate, product)) return {};
  const Node* source = product.weight_source();
  if (!candidate.parameters.has(source)) {
    return Refusal{fmt::format("its weight {} is computed, or written to, when the program runs",
                               source == nullptr ? "" : source->name()),
                   "make it a parameter"};
  }
  Node* dequantise = product.weight_dequantise();
  if (dequantise == nullptr) return {};
  const QuantParams params = quant_params(*dequantise);
  if (params.kind == Kind::kPerToken || params.dtype != ScalarType::kChar) {
    return Refusal{"the weight is quantised in a way that XNNPACK does not support",
                   "quantise it to int8 per tensor or per channel"};
  }
  const TensorData* zero_points = candidate.parameters.find(params.zero_points);
  if (params.zero_point != 0 || (zero_points != nullptr && !is_all_zero(*zero_points))) {
    return Refusal{"its weight is quantised with zero points other than 0",
                   "quantise weights symmetrically"};
  }
  if (params.kind == Kind::kPerTensor && product.precision == kDynamic) {
    return Refusal{"a dynamically quantised call needs a weight quantised per channel or block",
                   "quantise the weight per channel"};
  }
  if (params.kind == Kind::kPerBlock &&
      (product.precision != kDynamic || params.block_size <= 0 || params.block_size % 32 != 0 ||
       params.quant_min != -8 || params.quant_max != 7)) {
    return Refusal{"blocks of weights must hold a multiple of 32 four-bit numbers",
                   "choose blocks of 32, and quantise activations dynamically"};
  }
  const bool has_tensors = params.kind != Kind::kPerTensor;
  if (has_tensors &&
      (!candidate.parameters.has(params.scales) ||
       (params.zero_points != nullptr && !candidate.parameters.has(params.zero_points)))) {
    return Refusal{"the scales of its weight are computed when the program runs",
                   "make them constants"};
  }
  const std::vector<float> scales = weight_scales(candidate.parameters, params);
  if (!std::ranges::all_of(scales, [](float s) { return std::isnormal(s) && s > 0; })) {
    return Refusal{"a scale of its weight is not positive and normal", ""};
  }
  return {};
}

std::optional<Refusal> check_activation(const Product& product) {
  if (product.precision == kFloat) return {};
  if (product.dequantised == nullptr) {
    return Refusal{"the weight is quantised but the input is not", "quantise both"};
  }
  if (product.precision == kStatic) return about("input", check_int8(*product.dequantised));
  const Node* quantise = operand(*product.dequantised, 0);
  if (quantise == nullptr || !is_quantise(*quantise) || product.padding != nullptr ||
      spec_of(*quantise).dtype != ScalarType::kChar) {
    return Refusal{"its input is not quantised where it is used", ""};
  }
  return about("input", check_range(*quantise));
}

std::optional<Refusal> check_result(const Candidate& candidate, const Product& product) {
  if (product.precision != kStatic) return {};
  const Tail tail = tail_of(*product.node);
  if (tail.quantise == nullptr) {
    return Refusal{
        "input and weight are quantised to int8, but the result is not, or is used twice",
        "quantise the result too"};
  }
  if (auto refusal = about("result", check_int8(*tail.quantise))) return refusal;
  return check_numbers(candidate, product, tail.activation, *tail.quantise);
}

std::optional<Refusal> check_product(const Candidate& candidate) {
  const std::optional<Product> product = product_of(candidate.node);
  if (!product) return Refusal{"the operands are not tensors", ""};
  const bool as_float = is_taken_as_float(candidate, *product);
  if (!as_float && (candidate.precisions & product->precision) == 0) {
    return Refusal{"it is quantised in a way that this partitioner does not take",
                   "use a partitioner for all precisions"};
  }
  if (product->bias != nullptr && !candidate.parameters.has(product->bias) &&
      !may_compute_weights(candidate, *product)) {
    return Refusal{"its bias is computed, or written to, when the program runs",
                   "make it a parameter"};
  }
  if (as_float) return {};
  if (auto refusal = check_weight(candidate, *product)) return refusal;
  if (auto refusal = check_activation(*product)) return refusal;
  return check_result(candidate, *product);
}

// XNNPACK adds one number to each column of the result.
std::optional<Refusal> check_bias(const Product& product) {
  if (product.bias == nullptr) return {};
  const TensorSpec& bias = spec_of(*product.bias);
  if (bias.rank() == 1 && bias.sizes[0] == spec_of(*product.node).sizes.back()) return {};
  return Refusal{"its bias does not have one number for each output", "expand the bias"};
}

// Whether one call of the model became both, as linear becomes a transposition and a product. True
// where the origin is unknown.
bool are_of_one_call(const Node& a, const Node& b) {
  if (a.meta.origin == nullptr || b.meta.origin == nullptr) return true;
  const Origin& of_a = *a.meta.origin;
  const Origin& of_b = *b.meta.origin;
  return of_a.source_fn_stack == of_b.source_fn_stack && of_a.torch_fn == of_b.torch_fn;
}

bool all_are(const Parameters& parameters, std::initializer_list<const Node*> nodes) {
  return std::ranges::all_of(nodes, [&](const Node* node) { return parameters.has(node); });
}

// What is not of four dims is reshaped, and a reshape infers one size.
bool needs_two_sizes(const TensorSpec& spec) { return spec.rank() < 4 && count_dynamic(spec) > 1; }

bool is_extended_below_stride(const Node& node, size_t dims) {
  const std::vector<int64_t> strides = Call(node).integers("stride", dims);
  const std::vector<int64_t> extensions = Call(node).integers("output_padding", dims);
  return std::ranges::equal(extensions, strides, std::less<>());
}

}  // namespace

std::optional<Refusal> check_convolution(const Candidate& candidate) {
  if (auto refusal = check_product(candidate)) return refusal;
  const Product product = *product_of(candidate.node);
  const Node& node = candidate.node;
  const TensorSpec& weight = spec_of(*product.weight);
  const size_t spatial = Call(node).integers("stride").size();
  if (weight.rank() != 3 && weight.rank() != 4) {
    return Refusal{"XNNPACK has convolutions over one and two dims only", ""};
  }
  if (spatial > 2 || spec_of(*product.activation).rank() != weight.rank()) {
    return Refusal{"its input and its weight differ in rank", "give the input a batch dim"};
  }
  if (needs_two_sizes(spec_of(*product.activation)) || needs_two_sizes(spec_of(node))) {
    return Refusal{"more than one of its sizes is known only when the program runs",
                   "export it with one of them fixed"};
  }
  const bool is_transposed = Call(node).boolean("transposed");
  if (is_transposed && !is_extended_below_stride(node, weight.rank() - 2)) {
    return Refusal{"its output_padding is not below its stride", "pad its result"};
  }
  const int64_t groups = Call(node).integer("groups");
  // One input channel a group.
  const bool is_depthwise =
      weight.sizes[is_transposed ? 0 : 1] == SymInt(is_transposed ? groups : 1);
  if (product.precision == kDynamic && (weight.rank() != 4 || is_depthwise)) {
    return Refusal{
        "of dynamically quantised convolutions XNNPACK has only those over two dims that are not "
        "depthwise",
        "quantise it statically, or leave it in floats"};
  }
  if (Node* dequantise = product.weight_dequantise()) {
    const QuantParams params = quant_params(*dequantise);
    if (params.kind == Kind::kPerBlock) {
      return Refusal{"blocks of weights are for linear calls", "quantise it per channel"};
    }
    if (params.kind == Kind::kPerChannel && is_transposed && (params.axis != 1 || groups != 1)) {
      return Refusal{
          "a transposed convolution quantised per channel must have one group, and axis 1",
          "quantise its weight per tensor"};
    }
    if (params.kind == Kind::kPerChannel && !is_transposed && params.axis != 0) {
      return Refusal{"its weight is quantised along a dim other than its output channels",
                     "quantise along dim 0"};
    }
  }
  const std::vector<int64_t> padding = Call(node).integers("padding");
  if (std::ranges::any_of(padding, [](int64_t p) { return p < 0; })) {
    return Refusal{"its padding is negative", "slice its input"};
  }
  return {};
}

std::optional<Refusal> check_linear(const Candidate& candidate) {
  if (auto refusal = check_product(candidate)) return refusal;
  const Product product = *product_of(candidate.node);
  if (calls_op(candidate.node, "linear.default")) {
    if (spec_of(*product.weight).rank() != 2) {
      return Refusal{"its weight is not a matrix", "give the weight two dims"};
    }
    if (auto refusal = check_bias(product)) return refusal;
  }
  if (is_taken_as_float(candidate, product)) return {};
  if (Node* dequantise = product.weight_dequantise()) {
    const QuantParams params = quant_params(*dequantise);
    if (params.kind == Kind::kPerChannel && params.axis != 0) {
      return Refusal{"its weight is quantised along a dim other than its outputs",
                     "quantise along dim 0"};
    }
  }
  return {};
}

std::optional<Refusal> check_matrix_product(const Candidate& candidate) {
  if (auto refusal = check_linear(candidate)) return refusal;
  const Product product = *product_of(candidate.node);
  if (Call(candidate.node).real("beta", 1.0) != 1.0 ||
      Call(candidate.node).real("alpha", 1.0) != 1.0) {
    if (product.bias != nullptr) return Refusal{"its alpha or beta is not 1", ""};
  }
  if (product.bias != nullptr && spec_of(*product.bias).rank() != 1) {
    return Refusal{"the added operand is not a row of constants", "add it in a separate call"};
  }
  if (auto refusal = check_bias(product)) return refusal;
  // To ExecuTorch this is a weight that is computed.
  if (product.transposition != nullptr && !are_of_one_call(*product.transposition, *product.node)) {
    return Refusal{"the model transposes the weight in a separate call",
                   "use torch.nn.functional.linear"};
  }
  if (product.precision != kFloat && product.transposition == nullptr) {
    return Refusal{"its quantised weight is not transposed", "keep linear from being decomposed"};
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
  if (is_taken_as_float(candidate, *product)) {
    add(tail.activation);
    return group;
  }
  const bool has_weight = candidate.parameters.has(product->weight_source());
  if (has_weight) {
    add(product->transposition);
    if (Node* dequantise = product->weight_dequantise()) {
      add(dequantise);
      for (Node* input : dequantise->inputs()) add(input);
    }
    add(product->weight_source());
  }
  if (product->precision == kFloat) {
    add(tail.activation);
    return group;
  }
  add(product->padding);
  add(product->dequantised);
  if (product->precision == kStatic) {
    add(tail.activation);
    add(tail.quantise);
    return group;
  }
  Node* quantise = operand(*product->dequantised, 0);
  add(quantise);
  for (Node* input : product->dequantised->inputs()) {
    if (!input->calls(getitem())) continue;
    add(input);
    add(operand(*input, 0));
  }
  return group;
}

std::optional<Refusal> check_batch_norm(const Candidate& candidate) {
  const Node& node = candidate.node;
  for (const Node* user : node.users()) {
    if (!user->calls(getitem()) || item_index(*user) != 0) {
      return Refusal{"more than its first result is used", ""};
    }
  }
  Node* weight = operand(node, "weight");
  Node* bias = operand(node, "bias");
  if (!all_are(candidate.parameters,
               {operand(node, "running_mean"), operand(node, "running_var")}) ||
      (weight != nullptr && !all_are(candidate.parameters, {weight})) ||
      (bias != nullptr && !all_are(candidate.parameters, {bias}))) {
    return Refusal{"its parameters are computed, or written to, when the program runs",
                   "export the model in evaluation mode"};
  }
  const TensorSpec& input = spec_of(required(node, 0));
  if (needs_two_sizes(input)) {
    return Refusal{"more than one of its sizes is known only when the program runs",
                   "export it with one of them fixed"};
  }
  if (can_fold_batch_norm(candidate.parameters, node)) return {};
  if (input.rank() < 2 || input.rank() > 4) {
    return Refusal{fmt::format("its input has {} dims, not 2, 3 or 4", input.rank()), ""};
  }
  if (!input.sizes[1].is_static()) {
    return Refusal{"how many channels it has is known only when the program runs", ""};
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
