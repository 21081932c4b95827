// Makes text from files safe to print: the result is UTF-8 and cannot control a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vitrine {

struct CodePoint {
  static constexpr uint32_t kInvalid = UINT32_MAX;
  uint32_t value = kInvalid;
  size_t bytes = 1;
};

// Decodes the first character of a text that is not empty. Returns kInvalid with a length of one
// byte if this character is not UTF-8.
CodePoint first_code_point(std::string_view text);

// Replaces control characters and bytes that are not UTF-8 with '?'. Keeps tabs and newlines.
void make_printable(std::span<char> text);

}  // namespace vitrine
