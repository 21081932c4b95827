#pragma once

#include <string>
#include <string_view>

namespace vitrine::inspector {

// Quotes a CSV cell if necessary. Puts an apostrophe before texts that a spreadsheet would run as
// formulas.
inline std::string csv_cell(std::string_view text) {
  std::string safe(text);
  if (!safe.empty() && std::string_view("=+-@\t\r").find(safe.front()) != std::string_view::npos) {
    safe.insert(0, 1, '\'');
  }
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  for (size_t at = safe.find('"'); at != std::string::npos; at = safe.find('"', at + 2)) {
    safe.insert(at, 1, '"');
  }
  return '"' + safe + '"';
}

}  // namespace vitrine::inspector
