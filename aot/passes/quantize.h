// Quantizes the float weights of linear layers and embeddings, as torchao does before the export.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/passes/weight_quantization.h"

namespace vitrine::aot {

struct WeightRule {
  std::string pattern;  // model_part.h
  // The schemes for the part's linear layers and embeddings. Parts without a scheme stay float.
  std::optional<WeightScheme> linears = std::nullopt;
  std::optional<WeightScheme> embeddings = std::nullopt;
};

struct QuantizeOptions {
  // 8da4w: 4-bit weights, and 8-bit activations with one scale per token, computed at run time.
  std::optional<WeightScheme> linears = std::nullopt;
  std::optional<WeightScheme> embeddings = std::nullopt;
  std::vector<WeightRule> rules = {};  // the first rule that names a call decides
};

struct QuantizeResult {
  size_t linears = 0;     // number of replaced calls of aten.linear
  size_t embeddings = 0;  // number of replaced calls of aten.embedding
  // For each rule: true if the rule's pattern names a module or operator of the model.
  std::vector<bool> is_known;
  // For each rule: the number of replaced calls.
  std::vector<size_t> by_rule;
  // Weights that were not quantized, with the reasons.
  std::vector<std::string> skipped;
};

// Quantizes weights of `program`, which no pass may have changed since its import. Calls with a
// stored f32, f16 or bf16 weight become:
//   aten.linear     torchao.choose_qparams_affine, quantize_affine and dequantize_affine of the
//                   input, dequantize_affine of the weight, aten.linear
//   aten.embedding  quantized_decomposed.embedding_{byte,4bit,2bit}.dtype
// A weight that several calls use is quantized once for each combination of operator and scheme.
// LoRA adapters and linear layers whose row length is not a multiple of the group size are skipped.
// Throws an AotError that names the node if a weight is already quantized or cannot be quantized.
QuantizeResult quantize(ExportedProgram& program, const QuantizeOptions& options);

}  // namespace vitrine::aot
