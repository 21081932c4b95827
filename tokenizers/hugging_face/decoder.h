// The "decoder" of a tokenizer.json: turns tokens into text, one token at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "tokenizers/text_budget.h"

namespace vitrine::hugging_face {

// The text of a token, or a part of this text, between two steps of decoding.
struct DecodedPiece {
  std::string text;
  bool continues = false;  // the piece belongs to the previous piece's token
};
using DecodedPieces = std::vector<DecodedPiece>;

struct DecoderState {
  bool continues;      // the tokens continue a text
  bool eager;          // see Tokenizer::make_stream
  TextBudget& budget;  // outlives the steps
};

// Performs one step of decoding for one sequence of tokens.
class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  virtual void push(DecodedPiece piece, DecodedPieces& out) = 0;
  virtual void finish(DecodedPieces&) {}
};
using DecodeSteps = std::vector<std::unique_ptr<DecodeStep>>;

// A function that appends the steps for decoding one sequence of tokens. Thread-safe.
using Decoder = std::function<void(DecodeSteps&, const DecoderState&)>;

// Reads the "decoder". `place` names the file in errors. Throws FormatError or TokenizerError.
Decoder read_decoder(const JsonValue& json, const std::string& place);
// Returns the decoder for files without a "decoder". This decoder puts spaces between tokens.
Decoder space_decoder();

}  // namespace vitrine::hugging_face
