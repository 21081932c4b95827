#include "inspector/report/fill_page.h"

#include <algorithm>

namespace vitrine::inspector {

std::string without_tags(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string fill_page(std::string_view page,
                      const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string text;
  while (!page.empty()) {
    const auto starts = [&](const auto& part) { return page.starts_with(part.first); };
    const size_t next = page.find("{{");
    text += page.substr(0, next);
    if (next == std::string_view::npos) break;
    page.remove_prefix(next);
    const auto part = std::find_if(parts.begin(), parts.end(), starts);
    text += part == parts.end() ? page.substr(0, 2) : part->second;
    page.remove_prefix(part == parts.end() ? 2 : part->first.size());
  }
  return text;
}

}  // namespace vitrine::inspector
