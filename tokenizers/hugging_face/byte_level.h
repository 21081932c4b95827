// GPT-2's byte-level alphabet writes each byte as one visible character. A vocabulary of these 256
// characters can express any text.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::hugging_face {

std::string to_byte_level(std::string_view bytes);
// Converts a token to bytes. A token with a character outside of the alphabet stays unchanged.
std::string from_byte_level(std::string_view token);

// GPT-2's regular expression. Its matches are the words.
extern const char* const kByteLevelPattern;

}  // namespace vitrine::hugging_face
