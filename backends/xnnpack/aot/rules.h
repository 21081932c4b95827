// The rules that decide whether a call is delegated to XNNPACK. operator_table.h refers to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/lowering/partitioner.h"
#include "backends/xnnpack/aot/arguments.h"

namespace vitrine::aot::xnnpack {

// The precision of a call. The values are flags.
enum Precision : uint8_t {
  kFloat = 1,
  kStatic = 2,   // int8 with constant parameters: dequantize -> call -> quantize
  kDynamic = 4,  // int8 weights; activations are quantized at run time
};
inline constexpr uint8_t kAnyPrecision = kFloat | kStatic | kDynamic;

// A call that the rules accept or reject. The partitioner sets Rejection::node.
struct Candidate {
  const Parameters& parameters;
  Node& node;
  uint8_t precisions = kAnyPrecision;   // precisions that the partitioner supports
  bool allows_dynamic_weights = false;  // allows computed weights and biases of float linear, addmm
                                        // and mm
  bool allows_bf16 = false;

  const TensorSpec& input() const { return spec_of(required(node, 0)); }
};

using Check = std::optional<Rejection> (*)(const Candidate& candidate);
// Returns the nodes of the call's partition: the call first, then its weights, the quantize and
// dequantize calls around it, and a fused activation.
using Group = std::vector<Node*> (*)(const Candidate& candidate);

// Returns true if XNNPACK's int8 operator supports these scales.
using SupportsScales = bool (*)(float a, float b, float result);

// The conditions under which the calls of an operator are delegated.
struct Rule {
  uint8_t precisions = kFloat;
  Check check = nullptr;                     // checks besides the checks for all operators
  Group group = nullptr;                     // null: the call and its quantize and dequantize calls
  SupportsScales supports_scales = nullptr;  // null: all scales are supported
  // The name of an activation that may be fused into calls of this operator.
  std::string_view activation = {};
  // True if calls of the operator must not be decomposed.
  bool keep = false;
  // True if the operator only moves data. Input and output then have the same quantization.
  bool moves = false;
  // True if the operator may convert between f32 and f16 or bf16.
  bool converts = false;
};

// Returns null if the operator is never delegated.
const Rule* find_rule(const Node& node);

// Returns why the call is not delegated, or nothing. Never throws, even for invalid arguments.
std::optional<Rejection> check(const Candidate& candidate);
std::vector<Node*> group_of(const Candidate& candidate);

// Returns the quantize call that reads the result of `node`. Returns null if `node` does not run in
// int8 with constant parameters.
Node* quantized_result(const Node& node);

// ---- Checks and groups of the operator table

std::optional<Rejection> check_operands(const Candidate& candidate);  // checks that two inputs are
                                                                      // tensors
std::optional<Rejection> check_alpha(const Candidate& candidate);
std::optional<Rejection> check_gelu(const Candidate& candidate);
std::optional<Rejection> check_square(const Candidate& candidate);
std::optional<Rejection> check_softmax(const Candidate& candidate);
std::optional<Rejection> check_prelu(const Candidate& candidate);
std::vector<Node*> group_prelu(const Candidate& candidate);
// Checks for quantize and dequantize calls. check_int8 accepts only int8 activations with constant
// parameters. check_range accepts only the range from -128 to 127.
std::optional<Rejection> check_conversion(const Candidate& candidate);
std::optional<Rejection> check_int8(const Node& conversion);
std::optional<Rejection> check_range(const Node& quantize);

std::optional<Rejection> check_average_pool(const Candidate& candidate);
std::optional<Rejection> check_max_pool(const Candidate& candidate);
std::optional<Rejection> check_max_dim(const Candidate& candidate);
std::optional<Rejection> check_mean(const Candidate& candidate);
std::optional<Rejection> check_upsample(const Candidate& candidate);
std::optional<Rejection> check_clamp(const Candidate& candidate);  // also checks hardtanh

std::optional<Rejection> check_cat(const Candidate& candidate);
std::optional<Rejection> check_pad(const Candidate& candidate);
std::optional<Rejection> check_permute(const Candidate& candidate);
std::optional<Rejection> check_slice(const Candidate& candidate);
std::optional<Rejection> check_view(const Candidate& candidate);
std::optional<Rejection> check_unsqueeze(const Candidate& candidate);
std::optional<Rejection> check_clone(const Candidate& candidate);
std::optional<Rejection> check_copy(const Candidate& candidate);

std::optional<Rejection> check_convolution(const Candidate& candidate);
std::optional<Rejection> check_linear(const Candidate& candidate);
std::optional<Rejection> check_matrix_product(const Candidate& candidate);  // checks addmm and mm
std::vector<Node*> group_product(const Candidate& candidate);

std::optional<Rejection> check_batch_norm(const Candidate& candidate);
std::vector<Node*> group_batch_norm(const Candidate& candidate);

}  // namespace vitrine::aot::xnnpack
