// The binary form of llama2.c, with the four numbers that ExecuTorch's export puts before it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vitrine/tokenizer.h"

namespace vitrine {

// int32: size of the vocabulary, begin id, end id, longest token; then for each token float32
// score, int32 length, bytes; little-endian. Tokens may be missing at the end.
std::unique_ptr<Tokenizer> read_llama2c(std::string_view bytes, const std::string& place);

}  // namespace vitrine
