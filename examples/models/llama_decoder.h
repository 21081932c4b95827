// A decoder as stock LLM exports have it, with seeded weights: rotary positions, grouped heads,
// RMS norms, gated feed-forward layers, attention and cache writes as llama:: operators.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::examples {

struct LlamaOptions {
  int64_t layers = 2;
  int64_t features = 64;
  int64_t heads = 4;      // of queries
  int64_t key_heads = 2;  // divides heads
  int64_t hidden = 128;
  int64_t words = 256;  // of the vocabulary
  int64_t length = 64;  // positions of the cache
  // Elements of a row of weights that share a scale; divides features and hidden. Linear layers
  // have 4-bit weights and 8-bit activations, quantised by token (torchao's 8da4w); the embedding
  // has 4-bit weights. 0: all in f32.
  int64_t group = 32;
  uint64_t seed = 1;
  // Or f16, bf16: attention is computed in it, too. Or i8: queries, keys and values are quantised
  // by token and head, as ExecuTorch's quantize_kv_cache does, with scales and zero points as
  // caches of their own, [1, length, key_heads, 1].
  ScalarType cache = ScalarType::kFloat;
};

// Inputs tokens: i64[1, n], 1 <= n < length, and position: i64[1], that of the first of them;
// result: f32[1, words], of the last token. Keys and values are in buffers, [1, length,
// key_heads, features / heads].
aot::ExportedProgram llama_decoder(const LlamaOptions& options = {});

}  // namespace vitrine::examples
