#include "operators/flops.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace vitrine {
namespace {

double product(auto begin, auto end) {
  return std::accumulate(begin, end, 1.0, std::multiplies<double>());
}

// Returns the name of a tensor argument. `index` counts only tensor arguments.
std::string_view tensor_name(const Operator& op, size_t index) {
  for (const OperatorArgument& argument : op.arguments) {
    if (argument.type == ArgumentType::kTensor && index-- == 0) return argument.name;
  }
  return {};
}

std::optional<double> none(const Operator&, const CallSizes&) { return 0; }

std::optional<double> per_result(const Operator&, const CallSizes& call) {
  return call.result_elements();
}

std::optional<double> per_input(const Operator& op, const CallSizes& call) {
  return call.elements(tensor_name(op, 0));
}

std::optional<double> per_index(const Operator&, const CallSizes& call) {
  return call.elements("index");
}

// The weight is [out, in / groups, kernel...]. Each element of the result is a sum of
// (in / groups) * kernel... products. In a transposed convolution, the weight is [in, out / groups,
// kernel...], and each element of the input is a factor of (out / groups) * kernel... products.
std::optional<double> convolution(const Operator& op, const CallSizes& call) {
  const std::vector<double> weight = call.sizes("weight");
  const std::vector<int64_t> transposed = call.integers("transposed");
  const bool is_transposed = !transposed.empty() && transposed[0] != 0;
  const std::optional<double> positions =
      is_transposed ? per_input(op, call) : call.result_elements();
  if (weight.empty() || !positions) return std::nullopt;
  return *positions * product(weight.begin() + 1, weight.end());
}

// Counts the multiplications of the matrix product [..., m, k] x [..., k, n]. `left` is the index
// of the left matrix among the tensor arguments.
std::optional<double> matrix_product(const Operator& op, const CallSizes& call, size_t left) {
  const std::vector<double> sizes = call.sizes(tensor_name(op, left));
  const std::optional<double> results = call.result_elements();
  if (sizes.empty() || !results) return std::nullopt;
  return *results * sizes.back();
}

std::optional<double> plain_product(const Operator& op, const CallSizes& call) {
  return matrix_product(op, call, 0);
}

std::optional<double> added_product(const Operator& op, const CallSizes& call) {
  return matrix_product(op, call, 1);
}

std::optional<double> pooling(const Operator&, const CallSizes& call) {
  const std::vector<int64_t> kernel = call.integers("kernel_size");
  const std::optional<double> results = call.result_elements();
  if (kernel.empty() || !results) return std::nullopt;
  const double window = product(kernel.begin(), kernel.end());
  const bool is_square = kernel.size() == 1;
  return *results * (is_square ? window * window : window);
}

struct Rule {
  FlopsRule rule;
  std::optional<double> (*count)(const Operator& op, const CallSizes& call);
};
constexpr Rule kRules[] = {
    {FlopsRule::kNone, none},
    {FlopsRule::kPerResult, per_result},
    {FlopsRule::kPerInput, per_input},
    {FlopsRule::kPerIndex, per_index},
    {FlopsRule::kConvolution, convolution},
    {FlopsRule::kProduct, plain_product},
    {FlopsRule::kAddedProduct, added_product},
    {FlopsRule::kPooling, pooling},
};

}  // namespace

std::optional<double> count_flops(const Operator& op, const CallSizes& call) {
  const auto* rule = std::ranges::find(kRules, op.flops.rule, &Rule::rule);
  if (rule == std::end(kRules)) return std::nullopt;
  const std::optional<double> count = rule->count(op, call);
  if (!count) return std::nullopt;
  return *count * op.flops.per_item;
}

}  // namespace vitrine
