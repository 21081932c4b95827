// Checks the parts of a model that the SentencePiece library uses without checking them.
#pragma once

#include <string>
#include <string_view>

namespace vitrine {

// Checks the form of a model (a protocol buffer), its character maps, and the sizes of its pieces.
// Limits on these sizes bound the work per byte of text. `place` names the file. Throws
// TokenizerError.
void check_sentence_piece_model(std::string_view bytes, const std::string& place);

}  // namespace vitrine
