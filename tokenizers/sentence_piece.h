#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vitrine/tokenizer.h"

namespace vitrine {

std::unique_ptr<Tokenizer> read_sentence_piece(std::string_view bytes, const std::string& place);

}  // namespace vitrine
