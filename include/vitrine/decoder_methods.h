// Which methods of a program make up a language model, and who feeds whom.
//
//   encoder   -> each call of decode and prefill    (speech, T5)
//   embedding -> rows in place of ids, likewise     (programs of several modalities)
//   encoder   -> rows among those of an embedding   (images, sound in a prompt)
//   prefill      takes a prompt's ids, decode the later ones, over the same cache
//
// Found from the program's names and inputs; a program with several decoders (LoRA) has them chosen
// by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vitrine/program.h"
#include "vitrine/tokenizer.h"

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
// ("encoder", "vision_encoder" or "audio_encoder") and embedding ("token_embedding") are looked for
// where decode takes floats. Throws
// GenerationError naming the methods that there are, if one is named that is not there, or none is
// found.
DecoderMethodNames find_decoder_methods(const Program& program, DecoderMethodNames given = {});

// The token that stands for an encoder's rows in prompts: `name`, its text or its id; if it is
// empty, the one that models use for the modality ("vision_encoder", "audio_encoder"), if the
// tokenizer has it. `tokenizer` may be null. Throws GenerationError if the name is not a token.
std::optional<TokenId> find_row_id(const Tokenizer* tokenizer, std::string_view encoder,
                                   std::string_view name);

// "ids", "position", "encoded". Throws GenerationError.
DecoderInput parse_decoder_input(std::string_view name);

}  // namespace vitrine
