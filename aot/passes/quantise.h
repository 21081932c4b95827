// Float weights of linear layers and embeddings -> quantised ones, in the form in which exports of
// models that torchao quantised have them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/passes/weight_quantisation.h"

namespace vitrine::aot {

struct QuantiseOptions {
  // 8da4w: weights of 4 bits, activations of 8 bits by the token, chosen at run time.
  std::optional<WeightScheme> linears = std::nullopt;
  std::optional<WeightScheme> embeddings = std::nullopt;
};

struct QuantiseResult {
  size_t linears = 0;  // calls
  size_t embeddings = 0;
  std::vector<std::string> skipped;  // "fc.weight: its rows of 100 are not a multiple of 32"
};

// Takes a program as it was imported. A call with a weight of its own, f32, f16 or bf16, becomes:
//   aten.linear     torchao.choose_qparams_affine, quantize_affine and dequantize_affine of the
//                   input, dequantize_affine of the weight, aten.linear
//   aten.embedding  quantized_decomposed.embedding_{byte,4bit,2bit}.dtype
// A weight that several calls use is quantised for each kind of call. Linear layers whose rows the
// group does not divide, and LoRA's adapters, stay as they are. AotErrors name the call whose
// weight is quantised already or cannot be quantised.
QuantiseResult quantise(ExportedProgram& program, const QuantiseOptions& options);

}  // namespace vitrine::aot
