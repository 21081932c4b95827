// Reads llama2.c's binary tokenizer file, with the header that ExecuTorch's export adds.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vitrine/tokenizer.h"

namespace vitrine {

// The header has four int32: the size of the vocabulary, the id of the begin token, the id of the
// end token, and the length of the longest token. Each token is a float32 score, an int32 length,
// and bytes. Numbers are little-endian. The file may lack the last tokens. `place` names the file.
// Throws TokenizerError.
std::unique_ptr<Tokenizer> read_llama2c(std::string_view bytes, const std::string& place);

}  // namespace vitrine
