// The "decoder" of a tokenizer.json: tokens to text, as they come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace vitrine::hugging_face {

// A token's text on its way, or a part of one.
struct DecodedPiece {
  std::string text;
  bool continues = false;  // belongs to the token of the piece before
};
using DecodedPieces = std::vector<DecodedPiece>;

struct DecoderState {
  bool continues = false;  // the tokens continue a text
  bool eager = false;      // see Tokenizer::make_stream
};

// One step of decoding one row of tokens.
class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  virtual void push(DecodedPiece piece, DecodedPieces& out) = 0;
  virtual void finish(DecodedPieces&) {}
};
using DecodeSteps = std::vector<std::unique_ptr<DecodeStep>>;

// Appends the steps for one row of tokens. Thread-safe.
using Decoder = std::function<void(DecodeSteps&, const DecoderState&)>;

// `place` names the file. Throws FormatError or TokenizerError.
Decoder read_decoder(const JsonValue& json, const std::string& place);
// Without a decoder tokens have spaces between them.
Decoder space_decoder();

}  // namespace vitrine::hugging_face
