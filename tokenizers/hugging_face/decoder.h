// The "decoder" of a tokenizer.json: turns tokens into text, one token at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "tokenizers/text_budget.h"

namespace vitrine::hugging_face {

// The text of a token between two steps, or a part of it.
struct DecodedPiece {
  std::string text;
  bool continues = false;  // the piece belongs to the token of the piece before
};
using DecodedPieces = std::vector<DecodedPiece>;

struct DecoderState {
  bool continues;      // the tokens continue a text
  bool eager;          // see Tokenizer::make_stream
  TextBudget& budget;  // outlives the steps
};

// One step of decoding one sequence of tokens.
class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  virtual void push(DecodedPiece piece, DecodedPieces& out) = 0;
  virtual void finish(DecodedPieces&) {}
};
using DecodeSteps = std::vector<std::unique_ptr<DecodeStep>>;

// Appends the steps for one sequence of tokens. Thread-safe.
using Decoder = std::function<void(DecodeSteps&, const DecoderState&)>;

// `place` names the file. Throws FormatError or TokenizerError.
Decoder read_decoder(const JsonValue& json, const std::string& place);
// Returns the decoder of files that have none: it puts spaces between tokens.
Decoder space_decoder();

}  // namespace vitrine::hugging_face
