// Quantizes the float weights of linear layers and embeddings. The result has the form of a model
// that torchao quantized before the export.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/passes/weight_quantization.h"

namespace vitrine::aot {

// A rule that gives the calls in a part of the model their own schemes.
struct WeightRule {
  std::string pattern;  // model_part.h
  // The schemes for the part's linear layers and embeddings. If both are empty, the part stays
  // float.
  std::optional<WeightScheme> linears = std::nullopt;
  std::optional<WeightScheme> embeddings = std::nullopt;
};

struct QuantizeOptions {
  // The scheme of linear layers (8da4w): 4-bit weights, and 8-bit activations whose scales are
  // computed per token at run time.
  std::optional<WeightScheme> linears = std::nullopt;
  std::optional<WeightScheme> embeddings = std::nullopt;
  std::vector<WeightRule> rules = {};  // the first one that names a call decides
};

struct QuantizeResult {
  size_t linears = 0;     // number of replaced calls of aten.linear
  size_t embeddings = 0;  // number of replaced calls of aten.embedding
  // For each rule: true if the rule's pattern names a module or operator of the model.
  std::vector<bool> is_known;
  // For each rule: the number of replaced calls.
  std::vector<size_t> by_rule;
  // Weights that were not quantized, with reasons: "fc.weight: its row length 100 is not a multiple
  // of the group size 32".
  std::vector<std::string> skipped;
};

// Quantizes weights of `program`, which no pass may have changed since its import. Calls with a
// stored f32, f16 or bf16 weight become:
//   aten.linear     torchao.choose_qparams_affine, quantize_affine and dequantize_affine of the
//                   input, dequantize_affine of the weight, aten.linear
//   aten.embedding  quantized_decomposed.embedding_{byte,4bit,2bit}.dtype
// A weight that several calls use is quantized once for each combination of operator and scheme.
// LoRA adapters and linear layers whose row length is not a multiple of the group size are skipped.
// Throws an AotError that names the node if a weight is already quantized, or if its quantization
// fails, for example because the weight contains NaN.
QuantizeResult quantize(ExportedProgram& program, const QuantizeOptions& options);

}  // namespace vitrine::aot
