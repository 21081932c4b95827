#pragma once

#include <string>
#include <string_view>

#include "base/text/text_layout.h"

namespace vitrine::inspector {

// Makes a text printable and escapes the characters of HTML and SVG markup.
inline std::string markup_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace vitrine::inspector
