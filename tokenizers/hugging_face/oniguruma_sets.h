// What Oniguruma's characters and sets of characters are in ICU's patterns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vitrine::hugging_face {

// Outside of classes.
inline constexpr std::string_view kAny = R"([\x{0}-\x{10FFFF}])";  // (?s:.) takes both of a CR LF
inline constexpr std::string_view kNone = R"([^\x{0}-\x{10FFFF}])";
inline constexpr std::string_view kNotNewline = R"([^\x0A])";
inline constexpr std::string_view kLineBegin = R"((?:\A|(?<=\x0A)(?!\z)))";
inline constexpr std::string_view kLineEnd = R"((?=\x0A|\z))";

bool is_digit(char32_t c);   // of ASCII
bool is_letter(char32_t c);  // of ASCII

// The character itself, whatever ICU means by it.
std::string quoted(char32_t c);
std::string bracketed(std::string_view items, bool negated);

// [[:alpha:]], \p{Alpha}; nullopt if Oniguruma has no set of the name.
std::optional<std::string> named_set(std::string_view name, bool negated, bool in_class);
// \w, \W, and the like; nullopt if the letter stands for no set.
std::optional<std::string> set_of_letter(char32_t letter, bool in_class);
// \p{block=name} for the kind "block=", \p{name} for "". nullopt if ICU does not know the property.
std::optional<std::string> known_set(std::string_view kind, std::string_view name, bool negated);
// \b, or \B.
std::string word_edge(bool negated);
// \n, \t, and the like.
std::optional<char32_t> character_of_letter(char32_t letter);

}  // namespace vitrine::hugging_face
