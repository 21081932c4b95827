// Splits text where its script changes, as SentencePiece splits training text: Han, Hiragana and
// Katakana are one script, and a space belongs to the script before it.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// Returns the runs from left to right. Characters before the first one that has a script are in no
// run.
std::vector<TextRange> script_runs(std::string_view text);

}  // namespace vitrine::hugging_face
