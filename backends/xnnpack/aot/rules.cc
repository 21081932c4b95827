#include "backends/xnnpack/aot/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/operator_table.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantisation.h"

namespace vitrine::aot::xnnpack {
namespace {

// ---- Rules for all operators

bool is_product(const Rule& rule) { return rule.group == group_product; }

bool is_unbacked(const SymInt& size) {
  if (size.is_static()) return false;
  const Expression& expression = size.expression();
  if (expression.kind() == Expression::Kind::kSymbol) return expression.name().starts_with("u");
  return std::ranges::any_of(expression.arguments(), [](const Expression::Pointer& argument) {
    return is_unbacked(SymInt(argument));
  });
}

std::optional<Refusal> check_tensor(const TensorSpec& spec, std::string_view what, bool quantised) {
  const bool is_float = spec.dtype == ScalarType::kFloat || spec.dtype == ScalarType::kHalf;
  const bool is_int8 = spec.dtype == ScalarType::kChar || spec.dtype == ScalarType::kQInt8 ||
                       spec.dtype == ScalarType::kQUInt8 || spec.dtype == ScalarType::kQInt32;
  if (!is_float && !(quantised && is_int8)) {
    return Refusal{fmt::format("{} is {}, not f32 or f16", what, scalar_type_name(spec.dtype)),
                   "convert it to f32"};
  }
  for (const SymInt& size : spec.sizes) {
    if (size.is_static() && size.value() == 0) return Refusal{fmt::format("{} is empty", what), ""};
    if (is_unbacked(size)) {
      return Refusal{fmt::format("{} has a size that depends on data", what), ""};
    }
  }
  if (spec.rank() > 6) return Refusal{fmt::format("{} has more than 6 dims", what), ""};
  return {};
}

std::optional<Refusal> check_common(const Candidate& candidate) {
  const Node& node = candidate.node;
  const bool quantised = is_quantise(node) || is_dequantise(node);
  std::optional<ScalarType> dtype;
  for (const Node* input : node.inputs()) {
    if (input->meta.value.items() != nullptr) continue;
    const std::string what = fmt::format("its input {}", input->name());
    if (input->tensor() == nullptr) return Refusal{fmt::format("{} is not a tensor", what), ""};
    if (auto refusal = check_tensor(*input->tensor(), what, quantised)) return refusal;
    if (!quantised && dtype.has_value() && *dtype != input->tensor()->dtype) {
      return Refusal{"its inputs have different dtypes", "convert them to one"};
    }
    dtype = input->tensor()->dtype;
  }
  const TensorSpec* result = node.tensor();
  if (result == nullptr) return {};
  if (auto refusal = check_tensor(*result, "its result", quantised)) return refusal;
  if (!quantised && dtype.has_value() && *dtype != result->dtype) {
    return Refusal{fmt::format("it converts {} to {}", scalar_type_name(*dtype),
                               scalar_type_name(result->dtype)),
                   ""};
  }
  return {};
}

std::optional<Refusal> check_call(const Candidate& candidate, const Rule& rule) {
  if (auto refusal = check_common(candidate)) return refusal;
  if (!is_product(rule) && (rule.precisions & candidate.precisions) == 0) {
    return Refusal{"it is not of the precisions that this partitioner takes",
                   "use a partitioner for all precisions"};
  }
  return rule.check == nullptr ? std::nullopt : rule.check(candidate);
}

// The quantise call behind a call that has one user, past one fused activation.
Node* quantise_behind(const Node& node, std::string_view activation) {
  if (node.users().size() != 1) return nullptr;
  Node* user = node.users().front();
  if (!activation.empty() && calls_op(*user, activation)) {
    if (user->users().size() != 1) return nullptr;
    user = user->users().front();
  }
  return is_quantise(*user) ? user : nullptr;
}

// Of a call between dequantise calls and this quantise call, all of one scale.
bool takes_scales(const Rule& rule, const Node& node, const Node& quantise) {
  if (rule.takes_scales == nullptr) return true;
  const auto scale = [](const Node& call) { return static_cast<float>(quant_params(call).scale); };
  const Node* a = operand(node, 0);
  const Node* b = operand(node, 1);
  return a != nullptr && b != nullptr && rule.takes_scales(scale(*a), scale(*b), scale(quantise));
}

std::vector<Node*> group_quantised(const Candidate& candidate, const Rule& rule) {
  std::vector<Node*> group = {&candidate.node};
  if ((rule.precisions & candidate.precisions & kStatic) == 0) return group;
  const std::vector<Node*> inputs = candidate.node.inputs();
  if (inputs.empty() || !std::ranges::all_of(inputs, [](const Node* input) {
        return is_dequantise(*input) && !check_int8(*input);
      })) {
    return group;
  }
  Node* quantise = quantise_behind(candidate.node, rule.activation);
  if (quantise == nullptr || check_int8(*quantise) ||
      !takes_scales(rule, candidate.node, *quantise)) {
    return group;
  }
  group.insert(group.end(), inputs.begin(), inputs.end());
  Node* last = operand(*quantise, 0);
  if (last != &candidate.node) group.push_back(last);
  group.push_back(quantise);
  return group;
}

}  // namespace

const Rule* find_rule(const Node& node) {
  if (!node.is_call() || node.target().dialect() == Dialect::kPython ||
      node.target().dialect() == Dialect::kHigherOrder) {
    return nullptr;
  }
  const Operator* found = find_operator(op_name(node));
  return found != nullptr && found->is_taken() ? &found->rule : nullptr;
}

std::optional<Refusal> check(const Candidate& candidate) {
  const Rule* rule = find_rule(candidate.node);
  if (rule == nullptr) {
    return Refusal{
        fmt::format("the XNNPACK backend does not support {}", candidate.node.target().name()), ""};
  }
  try {
    return check_call(candidate, *rule);
  } catch (const AotError& error) {
    return Refusal{error.what(), ""};
  }
}

std::vector<Node*> group_of(const Candidate& candidate) {
  const Rule* rule = find_rule(candidate.node);
  if (rule == nullptr) return {&candidate.node};
  return rule->group != nullptr ? rule->group(candidate) : group_quantised(candidate, *rule);
}

Node* quantised_result(const Parameters& parameters, const Node& node) {
  const Rule* rule = find_rule(node);
  if (rule == nullptr || is_quantise(node) || is_dequantise(node)) return nullptr;
  // A padding is quantised only where the lowering put it between two such calls.
  const bool pads = calls_op(node, "constant_pad_nd.default");
  if ((rule->precisions & kStatic) == 0 && !pads) return nullptr;
  Node* quantise = quantise_behind(node, {});
  if (quantise == nullptr || check_int8(*quantise)) return nullptr;
  const QuantParams result = quant_params(*quantise);
  for (Node* input : node.inputs()) {
    if (parameters.has(input) && is_product(*rule)) continue;  // a bias
    if (!is_dequantise(*input) || is_dynamic(*input)) return nullptr;
    const QuantParams params = quant_params(*input);
    if (params.scales != nullptr && is_product(*rule)) continue;  // a weight
    if (params.kind != QuantParams::Kind::kPerTensor || params.dtype != ScalarType::kChar) {
      return nullptr;
    }
    if ((rule->moves || pads) && !params.is_same_per_tensor(result)) return nullptr;
  }
  return takes_scales(*rule, node, *quantise) ? quantise : nullptr;
}

}  // namespace vitrine::aot::xnnpack
