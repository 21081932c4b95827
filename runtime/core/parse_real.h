// Parses a double like std::from_chars, independently of the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace vitrine {

// Sets `number` and returns true if the entire text is a number.
inline bool parse_real(std::string_view text, double& number) {
#ifdef __cpp_lib_to_chars
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
#else  // libc++ before version 20
  char copy[64];
  if (text.empty() || text.size() >= sizeof copy) return false;
  // strtod accepts leading spaces, a plus sign and hexadecimal numbers. from_chars does not.
  if (text.front() <= ' ' || text.front() == '+') return false;
  if (text.find_first_of("xX") != std::string_view::npos) return false;
  *std::copy(text.begin(), text.end(), copy) = '\0';
  char* stop = nullptr;
  number = std::strtod(copy, &stop);
  return stop == copy + text.size();
#endif
}

}  // namespace vitrine
