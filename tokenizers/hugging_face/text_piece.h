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

// The treatment of separators at which a piece is split.
enum class SplitBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,
};

// Splits every piece that is not a token, and drops empty pieces. With `invert`, the texts between
// the ranges that `find` returns are the separators.
void split_pieces(TextPieces& pieces, const SeparatorFinder& find, SplitBehavior behavior,
                  TextBudget& budget, bool invert = false);

}  // namespace vitrine::hugging_face
