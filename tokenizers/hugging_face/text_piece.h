// Between the steps of encoding, a text is a row of pieces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tokenizers/hugging_face/separators.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {

struct TextPiece {
  std::string text;
  std::optional<TokenId> id = {};  // a token already: no step touches it
  bool at_start = false;           // begins where the whole text begins
};
using TextPieces = std::vector<TextPiece>;

// What becomes of a separator when a piece is split at it.
enum class SplitBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,
};

// Splits every piece that is not a token. Empty pieces are left out. `invert`: what lies between
// the separators is what separates.
void split_pieces(TextPieces& pieces, const SeparatorFinder& find, SplitBehavior behavior,
                  bool invert = false);

}  // namespace vitrine::hugging_face
