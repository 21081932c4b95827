// Splits text where its script changes, by the rules with which SentencePiece splits training text.
// Han, Hiragana and Katakana count as one script, and a space belongs to the preceding script.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// Returns the runs from left to right. Characters that precede the first character with a script
// are not part of any run.
std::vector<TextRange> script_runs(std::string_view text);

}  // namespace vitrine::hugging_face
