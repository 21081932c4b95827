// Builds a quantized MLP as PyTorch's pt2e flow produces it: int8 weights per channel, int8
// activations per tensor, f32 between each dequantization and quantization.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::examples {

struct QuantizedMlpOptions {
  int64_t batch = 1;
  int64_t inputs = 32;
  int64_t hidden = 64;
  int64_t outputs = 10;
  bool dynamic = false;  // true: activations are quantized by their own range at each run
  uint64_t seed = 1;
};

// Input x: f32[batch, inputs]; result: f32[batch, outputs]. Unless `dynamic` is set, quantization
// clips x to [-4, 4).
aot::ExportedProgram quantized_mlp(const QuantizedMlpOptions& options = {});

}  // namespace vitrine::examples
