// Builds a decoder like those of stock LLM exports, with seeded weights: rotary positions, grouped
// heads, RMS norms, gated feed-forward layers, and llama:: operators for attention and cache
// writes.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::examples {

struct LlamaOptions {
  int64_t layers = 2;
  int64_t features = 64;
  int64_t heads = 4;      // query heads
  int64_t key_heads = 2;  // heads of keys and values; divides heads
  int64_t hidden = 128;
  int64_t words = 256;  // size of the vocabulary
  int64_t length = 64;  // positions in the cache
  // The number of adjacent elements in a row of weights that share a scale. This number must divide
  // `features` and `hidden`. Linear layers have 4-bit weights and 8-bit activations, quantized per
  // token (torchao's 8da4w); the embedding has 4-bit weights. If 0, nothing is quantized and all
  // weights are f32.
  int64_t group = 32;
  uint64_t seed = 1;
  // Dtype of the cache. If it is f32, f16 or bf16, attention is computed in this dtype. If it is
  // i8, queries, keys and values are quantized per token and head, as ExecuTorch's
  // quantize_kv_cache does. Scales and zero points are in separate caches of shape [1, length,
  // key_heads, 1].
  ScalarType cache = ScalarType::kFloat;
  // In the last layer, multiplies the weights of `wv` by this factor, and divides the weights of
  // `wo` by it. Requires group == 0. In exact arithmetic, only the cached values change.
  float value_factor = 1;
};

// Inputs: tokens, i64[1, n] with 1 <= n < length, and the position of the first token, i64[1].
// Result: the logits of the last token, f32[1, words]. Keys and values are in buffers of shape
// [1, length, key_heads, features / heads].
aot::ExportedProgram llama_decoder(const LlamaOptions& options = {});

}  // namespace vitrine::examples
