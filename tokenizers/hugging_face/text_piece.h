// Splits a text into the pieces that the steps of encoding process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tokenizers/hugging_face/separators.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {

struct TextPiece {
  std::string text;
  std::optional<TokenId> id = {};  // set: the piece is a token, and no step changes it
  bool at_start = false;           // the piece begins at the start of the whole text
};
using TextPieces = std::vector<TextPiece>;

enum class SplitBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,
};

// Splits the pieces that are not tokens, and drops empty pieces. If `invert` is true, the texts
// between the ranges of `find` are the separators.
void split_pieces(TextPieces& pieces, const SeparatorFinder& find, SplitBehavior behavior,
                  TextBudget& budget, bool invert = false);

}  // namespace vitrine::hugging_face
