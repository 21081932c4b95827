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
  int64_t key_heads = 2;  // heads of keys and values; divides `heads`
  int64_t hidden = 128;
  int64_t words = 256;  // size of the vocabulary
  int64_t length = 64;  // number of positions in the cache
  // Number of consecutive elements of a weight row that share a scale. If 0, the embedding and the
  // linear layers have f32 weights. Otherwise, `group` must divide `features` and `hidden`, their
  // weights are int4, and linear layers quantize their inputs to int8 per token (torchao's 8da4w).
  int64_t group = 32;
  uint64_t seed = 1;
  // Dtype of the cache. If it is f32, f16 or bf16, attention is computed in this dtype. If it is
  // i8, queries, keys and values are quantized per token and head, as ExecuTorch's
  // quantize_kv_cache does. Scales and zero points are in separate caches of shape [1, length,
  // key_heads, 1].
  ScalarType cache = ScalarType::kFloat;
  // Factor for the cached values of the last layer. The weights of the layer's `wv` are multiplied
  // by this factor, and the weights of its `wo` are divided by this factor. With an f32 cache, a
  // power of two does not change the logits. Requires group == 0.
  float value_factor = 1;
};

// Inputs: i64[1, n], the tokens, with 1 <= n < length; i64[1], the position of the first token.
// Result: f32[1, words], the logits of the last token. Keys and values are in buffers of shape [1,
// length, key_heads, features / heads].
aot::ExportedProgram llama_decoder(const LlamaOptions& options = {});

}  // namespace vitrine::examples
