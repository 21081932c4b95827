// GPT-2's byte-level alphabet: each byte is written as one visible character, so that a vocabulary
// of 256 characters can express any text.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::hugging_face {

std::string to_byte_level(std::string_view bytes);
// Converts a token to bytes. Returns a token with a character outside of the alphabet unchanged.
std::string from_byte_level(std::string_view token);

// GPT-2's regular expression, whose matches are the words.
extern const char* const kByteLevelPattern;

}  // namespace vitrine::hugging_face
