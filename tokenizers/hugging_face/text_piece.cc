#include "tokenizers/hugging_face/text_piece.h"

#include <utility>

namespace vitrine::hugging_face {
namespace {

// A separator, or a text before, between or after separators.
struct PiecePart {
  TextRange range;
  bool separates;
};

// Divides the text into separators, which may be empty, and the texts between separators.
std::vector<PiecePart> parts_of(std::string_view text, const std::vector<TextRange>& separators,
                                bool invert) {
  std::vector<PiecePart> parts;
  size_t end = 0;
  const auto add_between = [&](size_t stop) {
    if (end < stop) parts.push_back({{end, stop}, invert});
  };
  for (const TextRange& separator : separators) {
    add_between(separator.begin);
    parts.push_back({separator, !invert});
    end = separator.end;
  }
  add_between(text.size());
  return parts;
}

void merge_neighbors(std::vector<PiecePart>& parts, SplitBehavior behavior) {
  std::vector<PiecePart> merged;
  for (const PiecePart& part : parts) {
    bool joins = false;
    if (!merged.empty()) {
      const bool after_separator = merged.back().separates;
      joins =
          (behavior == SplitBehavior::kMergedWithPrevious && part.separates && !after_separator) ||
          (behavior == SplitBehavior::kMergedWithNext && !part.separates && after_separator) ||
          (behavior == SplitBehavior::kContiguous && part.separates == after_separator);
    }
    if (joins) {
      merged.back().range.end = part.range.end;
      // A separator counts as text after kMergedWithNext has merged it with the next text.
      merged.back().separates = part.separates && behavior != SplitBehavior::kMergedWithNext;
    } else {
      merged.push_back(part);
    }
  }
  parts = std::move(merged);
}

}  // namespace

void split_pieces(TextPieces& pieces, const SeparatorFinder& find, SplitBehavior behavior,
                  TextBudget& budget, bool invert) {
  TextPieces split;
  split.reserve(pieces.size());
  for (TextPiece& piece : pieces) {
    if (piece.id) {
      split.push_back(std::move(piece));
      continue;
    }
    std::vector<PiecePart> parts = parts_of(piece.text, find(piece.text, budget), invert);
    if (behavior == SplitBehavior::kRemoved) {
      std::erase_if(parts, [](const PiecePart& part) { return part.separates; });
    } else if (behavior != SplitBehavior::kIsolated) {
      merge_neighbors(parts, behavior);
    }
    for (const auto& [range, separates] : parts) {
      if (range.begin == range.end) continue;
      split.push_back({.text = piece.text.substr(range.begin, range.end - range.begin),
                       .at_start = piece.at_start && range.begin == 0});
    }
  }
  pieces = std::move(split);
}

}  // namespace vitrine::hugging_face
