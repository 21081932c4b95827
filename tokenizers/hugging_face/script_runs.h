// Splits text where its script changes, as SentencePiece does for training. Han, Hiragana and
// Katakana count as one script. A space belongs to the preceding script.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// Returns the runs from left to right. Characters before the first character with a script are not
// in any run.
std::vector<TextRange> script_runs(std::string_view text);

}  // namespace vitrine::hugging_face
