// Replaces sentence_piece.cc in builds without the SentencePiece library.
#include "tokenizers/sentence_piece.h"

namespace vitrine {

std::unique_ptr<Tokenizer> read_sentence_piece(std::string_view, const std::string& place) {
  throw TokenizerError(place + ": is a SentencePiece model, but this build lacks its library");
}

}  // namespace vitrine
