// A quantised MLP as PyTorch's pt2e flow produces it: int8 weights per channel, int8 activations
// per tensor, f32 between each dequantisation and quantisation.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::examples {

struct QuantisedMlpOptions {
  int64_t batch = 1;
  int64_t inputs = 32;
  int64_t hidden = 64;
  int64_t outputs = 10;
  bool dynamic = false;  // activations are quantised by their own range at each run
  uint64_t seed = 1;
};

// Input x: f32[batch, inputs], best in [-1, 1]; result: f32[batch, outputs].
aot::ExportedProgram quantised_mlp(const QuantisedMlpOptions& options = {});

}  // namespace vitrine::examples
