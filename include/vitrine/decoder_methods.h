// Which methods of a program make up a language model, and who feeds whom.
//
//   encoder   -> each call of decode and prefill    (speech, T5)
//   embedding -> rows in place of ids, likewise     (programs of several modalities)
//   prefill      takes a prompt's ids, decode the later ones, over the same cache
//
// Found from the program's names and inputs; a program with several decoders (LoRA) has them chosen
// by name.
#pragma once

#include <string>
#include <vector>

#include "vitrine/program.h"

namespace vitrine {

// What an input of decode and prefill is fed with.
enum class DecoderInput : uint8_t {
  kIds,       // int64 [1, n]; or an embedding's rows, [1, n, features]
  kPosition,  // int64 [1], or one for each id
  kEncoded,   // what the encoder gives
};

// Names of methods; empty: there is none.
struct DecoderMethodNames {
  std::string decode = {};
  std::string prefill = {};
  std::string encoder = {};
  std::string embedding = {};
  // The inputs of decode and prefill, in their order. Empty: found from dtypes and shapes.
  std::vector<DecoderInput> inputs = {};
};

// Fills in what is not given. Without a name, decode is "forward", "decode", "text_decoder" or
// "decoder", the first that the program has, or its only method that takes inputs; prefill is
// "prefill". With a name that stays as it is, so that LoRA's methods stand for themselves. Encoder
// ("encoder") and embedding ("token_embedding") are looked for where decode takes floats. Throws
// GenerationError naming the methods that there are, if one is named that is not there, or none is
// found.
DecoderMethodNames find_decoder_methods(const Program& program, DecoderMethodNames given = {});

// "ids", "position", "encoded". Throws GenerationError.
DecoderInput parse_decoder_input(std::string_view name);

}  // namespace vitrine
