// Finds the methods of a program that together form a language model.
//
//   decode    maps a token id to the logits of the next token
//   prefill   does the same for many ids of a prompt at once; it shares the cache of decode
//   embedding maps ids to rows of floats, which decode and prefill then accept instead of ids
//             (multimodal programs)
//   encoder   produces an input of decode and prefill (speech, T5), or rows that are inserted among
//             those of the embedding (images and audio in a prompt)
//
// The methods are found by their names and inputs. If a program has several decoders (LoRA), the
// caller chooses one of them by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vitrine/program.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// The meaning of an input of decode and prefill.
enum class DecoderInput : uint8_t {
  kIds,       // token ids, int64 [1, n]; or rows of an embedding, [1, n, features]
  kPosition,  // position of the first id, int64 [1]; or the position of each id
  kEncoded,   // the output of the encoder
};

// Names of methods. An empty name means that the model lacks the method.
struct DecoderMethodNames {
  std::string decode = {};
  std::string prefill = {};
  std::string encoder = {};
  std::string embedding = {};
  // The meanings of the inputs of decode and prefill, in order. If empty, dtypes and shapes
  // determine the meanings.
  std::vector<DecoderInput> inputs = {};
};

// Fills in the names that are not given:
// - decode: the first of "forward", "decode", "text_decoder" and "decoder" that the program has, or
//   else the program's only method that has inputs;
// - prefill: "prefill", unless decode was given. A given decode may use a LoRA adapter that the
//   method "prefill" does not use;
// - encoder, if decode has an input of floats: the first of "encoder", "vision_encoder" and
//   "audio_encoder" that the program has;
// - embedding, if decode has an input of floats: "token_embedding".
// The names of prefill, encoder and embedding stay empty if the program has no such method. Throws
// GenerationError if no decode method is found, or if a given method does not exist or has no
// inputs. The message lists the methods with inputs.
DecoderMethodNames find_decoder_methods(const Program& program, DecoderMethodNames given = {});

// Returns the placeholder token for the encoder's rows in prompts. `name` is the token's text or
// id. Throws GenerationError for other names.
//
// If `name` is empty, returns the first of the usual placeholder tokens that the tokenizer has:
// tokens for audio if the method name `encoder` contains "audio", otherwise tokens for images.
// Returns nothing if the tokenizer has none of these tokens, or is null.
std::optional<TokenId> find_row_id(const Tokenizer* tokenizer, std::string_view encoder,
                                   std::string_view name);

// Converts the names "ids", "position" and "encoded". Throws GenerationError for other names.
DecoderInput parse_decoder_input(std::string_view name);

}  // namespace vitrine
