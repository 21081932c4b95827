// GPT-2's alphabet: each byte is written as one visible character, so that any text is made of
// characters that a vocabulary can have.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::hugging_face {

std::string to_byte_level(std::string_view bytes);
// A token with a character outside of the alphabet stands for itself.
std::string from_byte_level(std::string_view token);

// How GPT-2 splits text before it.
extern const char* const kByteLevelPattern;

}  // namespace vitrine::hugging_face
