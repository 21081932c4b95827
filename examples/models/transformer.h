// Builds two small transformers with seeded weights: an encoder, and a decoder with cached keys and
// values.
#pragma once

#include "examples/models/model_builder.h"

namespace vitrine::examples {

struct TransformerOptions {
  int64_t layers = 2;
  int64_t features = 64;  // a multiple of heads
  int64_t heads = 4;
  int64_t hidden = 128;
  int64_t words = 256;  // size of the vocabulary
  int64_t length = 32;  // number of tokens; for the decoder, the length of its cache
  int64_t batch = 1;    // batch size of the encoder; the upper bound if `dynamic_batch`
  bool dynamic_batch = false;
  uint64_t seed = 1;
};

// Input tokens: i64[batch, length]; result: f32[batch, length, features].
aot::ExportedProgram transformer_encoder(const TransformerOptions& options = {});

// Applies the layers and the last norm of the encoder to x: f32[batch, length, features].
aot::Node* encoder_layers(aot::ModelBuilder& build, const TransformerOptions& options,
                          aot::Node* x);

// Builds one step of a decoder. Inputs: token, i64[1, 1], and position, i64[1], with
// 0 <= position < length. Result: f32[1, 1, words]. Buffers hold the keys and values of earlier
// steps; each step writes to them.
aot::ExportedProgram cached_decoder(const TransformerOptions& options = {});

}  // namespace vitrine::examples
