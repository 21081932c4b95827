#include "backends/xnnpack/aot/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/operator_table.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantization.h"

namespace vitrine::aot::xnnpack {
namespace {

bool is_product(const Rule& rule) { return rule.group == group_product; }

bool is_unbacked(const SymInt& size) {
  if (size.is_static()) return false;
  const Expression& expression = size.expression();
  if (expression.kind() == Expression::Kind::kSymbol) return expression.name().starts_with("u");
  return std::ranges::any_of(expression.arguments(), [](const Expression::Pointer& argument) {
    return is_unbacked(SymInt(argument));
  });
}

std::optional<Rejection> check_tensor(const TensorSpec& spec, std::string_view what, bool quantized,
                                      bool allows_bf16) {
  const bool is_bf16 = spec.dtype == ScalarType::kBFloat16;
  const bool is_float = spec.dtype == ScalarType::kFloat || spec.dtype == ScalarType::kHalf ||
                        (is_bf16 && allows_bf16);
  const bool is_int8 = spec.dtype == ScalarType::kChar || spec.dtype == ScalarType::kQInt8 ||
                       spec.dtype == ScalarType::kQUInt8 || spec.dtype == ScalarType::kQInt32;
  if (!is_float && !(quantized && is_int8)) {
    return Rejection{fmt::format("{} is {}, not f32 or f16", what, scalar_type_name(spec.dtype)),
                     is_bf16 ? "convert this tensor to f32, or lower with --backend-option "
                               "enable_bf16"
                             : "convert this tensor to f32"};
  }
  for (const SymInt& size : spec.sizes) {
    if (size.is_static() && size.value() == 0)
      return Rejection{fmt::format("{} is empty", what), ""};
    if (is_unbacked(size)) {
      return Rejection{fmt::format("{} has a size that depends on data", what), ""};
    }
  }
  if (spec.rank() > 6) return Rejection{fmt::format("{} has more than 6 dims", what), ""};
  return {};
}

std::optional<Rejection> check_common(const Candidate& candidate, const Rule& rule) {
  const Node& node = candidate.node;
  const bool quantized = is_quantize(node) || is_dequantize(node);
  std::optional<ScalarType> dtype;
  for (const Node* input : node.inputs()) {
    if (input->meta.value.items() != nullptr) continue;
    const std::string what = fmt::format("its input {}", input->name());
    if (input->tensor() == nullptr) return Rejection{fmt::format("{} is not a tensor", what), ""};
    if (auto rejection = check_tensor(*input->tensor(), what, quantized, candidate.allows_bf16)) {
      return rejection;
    }
    if (!quantized && dtype.has_value() && *dtype != input->tensor()->dtype) {
      return Rejection{"its inputs have different dtypes", "convert the inputs to one dtype"};
    }
    dtype = input->tensor()->dtype;
  }
  const TensorSpec* result = node.tensor();
  if (result == nullptr) return {};
  if (auto rejection = check_tensor(*result, "its result", quantized, candidate.allows_bf16)) {
    return rejection;
  }
  if (quantized || !dtype.has_value() || *dtype == result->dtype) return {};
  const bool has_f32 = *dtype == ScalarType::kFloat || result->dtype == ScalarType::kFloat;
  if (!rule.converts || !has_f32) {
    return Rejection{fmt::format("its conversion of {} to {} is not supported",
                                 scalar_type_name(*dtype), scalar_type_name(result->dtype)),
                     ""};
  }
  return {};
}

std::optional<Rejection> check_call(const Candidate& candidate, const Rule& rule) {
  if (auto rejection = check_common(candidate, rule)) return rejection;
  if (!is_product(rule) && (rule.precisions & candidate.precisions) == 0) {
    return Rejection{"this partitioner does not support the precision of the call",
                     "use a partitioner that supports all precisions"};
  }
  return rule.check == nullptr ? std::nullopt : rule.check(candidate);
}

// Returns the quantize call after `node`, or after the activation that is fused into `node`.
// Returns null if another call uses either result.
Node* quantize_after(const Node& node, std::string_view activation) {
  if (node.users().size() != 1) return nullptr;
  Node* user = node.users().front();
  if (!activation.empty() && calls_op(*user, activation)) {
    if (user->users().size() != 1) return nullptr;
    user = user->users().front();
  }
  return is_quantize(*user) ? user : nullptr;
}

// Checks the scales of an int8 operator, whose inputs are dequantize calls.
bool supports_scales(const Rule& rule, const Node& node, const Node& quantize) {
  if (rule.supports_scales == nullptr) return true;
  const auto scale = [](const Node& call) { return static_cast<float>(quant_params(call).scale); };
  const Node* a = operand(node, 0);
  const Node* b = operand(node, 1);
  return a != nullptr && b != nullptr &&
         rule.supports_scales(scale(*a), scale(*b), scale(quantize));
}

std::vector<Node*> group_quantized(const Candidate& candidate, const Rule& rule) {
  std::vector<Node*> group = {&candidate.node};
  if ((rule.precisions & candidate.precisions & kStatic) == 0) return group;
  const std::vector<Node*> inputs = candidate.node.inputs();
  if (inputs.empty() || !std::ranges::all_of(inputs, [](const Node* input) {
        return is_dequantize(*input) && !check_int8(*input);
      })) {
    return group;
  }
  Node* quantize = quantize_after(candidate.node, rule.activation);
  if (quantize == nullptr || check_int8(*quantize) ||
      !supports_scales(rule, candidate.node, *quantize)) {
    return group;
  }
  group.insert(group.end(), inputs.begin(), inputs.end());
  Node* last = operand(*quantize, 0);
  if (last != &candidate.node) group.push_back(last);
  group.push_back(quantize);
  return group;
}

}  // namespace

const Rule* find_rule(const Node& node) {
  if (!node.is_call() || node.target().dialect() == Dialect::kPython ||
      node.target().dialect() == Dialect::kHigherOrder) {
    return nullptr;
  }
  const Operator* found = find_operator(op_name(node));
  return found != nullptr && found->is_delegated() ? &found->rule : nullptr;
}

std::optional<Rejection> check(const Candidate& candidate) {
  const Rule* rule = find_rule(candidate.node);
  if (rule == nullptr) {
    return Rejection{
        fmt::format("the XNNPACK backend does not support {}", candidate.node.target().name()), ""};
  }
  try {
    return check_call(candidate, *rule);
  } catch (const AotError& error) {
    return Rejection{error.what(), ""};
  }
}

std::vector<Node*> group_of(const Candidate& candidate) {
  const Rule* rule = find_rule(candidate.node);
  if (rule == nullptr) return {&candidate.node};
  return rule->group != nullptr ? rule->group(candidate) : group_quantized(candidate, *rule);
}

Node* quantized_result(const Node& node) {
  const Rule* rule = find_rule(node);
  if (rule == nullptr || is_quantize(node) || is_dequantize(node)) return nullptr;
  // quantize_paddings() makes some paddings int8, although their rule does not list kStatic.
  const bool pads = calls_op(node, "constant_pad_nd.default");
  if ((rule->precisions & kStatic) == 0 && !pads) return nullptr;
  Node* quantize = quantize_after(node, {});
  if (quantize == nullptr || check_int8(*quantize)) return nullptr;
  if (is_product(*rule)) {
    // Products need their own check, because a weight may have several scales, and a bias may be
    // f32. The const_cast is safe: product_of() only reads the node.
    const std::optional<Product> product = product_of(const_cast<Node&>(node));
    const bool is_static = product && product->precision == kStatic &&
                           product->dequantized != nullptr && !check_int8(*product->dequantized);
    return is_static ? quantize : nullptr;
  }
  const QuantParams result = quant_params(*quantize);
  for (const Node* input : node.inputs()) {
    if (!is_dequantize(*input) || is_dynamic(*input)) return nullptr;
    const QuantParams params = quant_params(*input);
    if (params.kind != QuantParams::Kind::kPerTensor || params.dtype != ScalarType::kChar) {
      return nullptr;
    }
    if ((rule->moves || pads) && !params.is_same_per_tensor(result)) return nullptr;
  }
  return supports_scales(*rule, node, *quantize) ? quantize : nullptr;
}

}  // namespace vitrine::aot::xnnpack
