// For builds without the library.
#include "tokenizers/sentence_piece.h"

namespace vitrine {

std::unique_ptr<Tokenizer> read_sentence_piece(std::string_view, const std::string& place) {
  throw TokenizerError(place + ": is a SentencePiece model; this build is without its library");
}

}  // namespace vitrine
