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
  bool at_start = false;           // the piece begins where the whole text begins
};
using TextPieces = std::vector<TextPiece>;

// How separators are treated when a piece is split.
enum class SplitBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,
};

// Splits every piece that is not a token, and drops empty pieces. If `invert` is true, the
// separators are not the ranges that `find` returns, but the texts between them.
void split_pieces(TextPieces& pieces, const SeparatorFinder& find, SplitBehavior behavior,
                  TextBudget& budget, bool invert = false);

}  // namespace vitrine::hugging_face
