// Where the script of a text changes, as SentencePiece splits training text: Han, Hiragana and
// Katakana are one script, and a space belongs to the script before it.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/hugging_face/separators.h"

namespace vitrine::hugging_face {

// From left to right. What stands before the first character that has a script is in no run.
std::vector<TextRange> script_runs(std::string_view text);

}  // namespace vitrine::hugging_face
