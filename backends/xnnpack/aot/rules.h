// Which calls XNNPACK takes: what the rows of operator_table.h ask of the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/lowering/partitioner.h"
#include "backends/xnnpack/aot/arguments.h"

namespace vitrine::aot::xnnpack {

// How a call computes. A set of them is the sum of its members.
enum Precision : uint8_t {
  kFloat = 1,
  kStatic = 2,   // int8, all parameters known: dequantise -> call -> quantise
  kDynamic = 4,  // int8 weights, activations quantised when it runs
};
inline constexpr uint8_t kAnyPrecision = kFloat | kStatic | kDynamic;

using Refusal = Rejection;  // of the candidate; the partitioner sets the node

struct Candidate {
  const Parameters& parameters;
  Node& node;
  uint8_t precisions = kAnyPrecision;   // that the partitioner was made for
  bool allows_dynamic_weights = false;  // and biases, of linear, addmm and mm in floats

  // The first.
  const TensorSpec& input() const { return spec_of(required(node, 0)); }
};

using Check = std::optional<Refusal> (*)(const Candidate& candidate);
// The nodes that must lie in the call's partition, itself first: weights, the quantise and
// dequantise calls around it, a fused activation.
using Group = std::vector<Node*> (*)(const Candidate& candidate);

// Whether there is an int8 operator for the scales of two inputs and the result.
using TakesScales = bool (*)(float a, float b, float result);

// When the calls of an operator are taken.
struct Rule {
  uint8_t precisions = kFloat;
  Check check = nullptr;               // beyond what holds for all
  Group group = nullptr;               // null: itself, and what is quantised around it
  TakesScales takes_scales = nullptr;  // null: all
  // An operator that may be fused behind it.
  std::string_view activation = {};
  // Kept whole while others are decomposed.
  bool keep = false;
  // Its inputs' numbers are only moved: input and output are quantised alike.
  bool moves = false;
};

// Null if XNNPACK takes no call of the operator.
const Rule* find_rule(const Node& node);

// Whether XNNPACK takes the call; if not, why. Never throws: arguments that are not as the operator
// has them are a refusal too.
std::optional<Refusal> check(const Candidate& candidate);
std::vector<Node*> group_of(const Candidate& candidate);

// If the call can run in int8 with fixed parameters, as its neighbours ask for: the quantise call
// behind it, or behind the activation that is fused into it; else null.
Node* quantised_result(const Parameters& parameters, const Node& node);

// ---- The checks and groups behind the table, by family.

std::optional<Refusal> check_operands(const Candidate& candidate);  // two tensors
std::optional<Refusal> check_alpha(const Candidate& candidate);
std::optional<Refusal> check_gelu(const Candidate& candidate);
std::optional<Refusal> check_square(const Candidate& candidate);
std::optional<Refusal> check_softmax(const Candidate& candidate);
std::optional<Refusal> check_prelu(const Candidate& candidate);
std::vector<Node*> group_prelu(const Candidate& candidate);
// Quantise and dequantise calls, and what XNNPACK asks of those of an activation: of all with fixed
// numbers, and of the range of a quantise call.
std::optional<Refusal> check_conversion(const Candidate& candidate);
std::optional<Refusal> check_int8(const Node& conversion);
std::optional<Refusal> check_range(const Node& quantise);

std::optional<Refusal> check_average_pool(const Candidate& candidate);
std::optional<Refusal> check_max_pool(const Candidate& candidate);
std::optional<Refusal> check_max_dim(const Candidate& candidate);
std::optional<Refusal> check_mean(const Candidate& candidate);
std::optional<Refusal> check_upsample(const Candidate& candidate);
std::optional<Refusal> check_clamp(const Candidate& candidate);  // hardtanh too

std::optional<Refusal> check_cat(const Candidate& candidate);
std::optional<Refusal> check_pad(const Candidate& candidate);
std::optional<Refusal> check_permute(const Candidate& candidate);
std::optional<Refusal> check_slice(const Candidate& candidate);
std::optional<Refusal> check_view(const Candidate& candidate);
std::optional<Refusal> check_unsqueeze(const Candidate& candidate);
std::optional<Refusal> check_clone(const Candidate& candidate);

std::optional<Refusal> check_convolution(const Candidate& candidate);
std::optional<Refusal> check_linear(const Candidate& candidate);
std::optional<Refusal> check_matrix_product(const Candidate& candidate);  // addmm, mm
std::vector<Node*> group_product(const Candidate& candidate);

std::optional<Refusal> check_batch_norm(const Candidate& candidate);
std::vector<Node*> group_batch_norm(const Candidate& candidate);

}  // namespace vitrine::aot::xnnpack
