// Reads the binary tokenizer file of llama2.c, preceded by the header that ExecuTorch's export
// adds.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vitrine/tokenizer.h"

namespace vitrine {

// Reads a tokenizer. The header has four int32: the size of the vocabulary, the id of the begin
// token, the id of the end token, and the length of the longest token. Each token consists of a
// float32 score, an int32 length, and the token's bytes. All numbers are little-endian. The file
// may lack the last tokens. Throws TokenizerError. `place` names the file.
std::unique_ptr<Tokenizer> read_llama2c(std::string_view bytes, const std::string& place);

}  // namespace vitrine
