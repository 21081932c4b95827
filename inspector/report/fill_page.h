#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::inspector {

// Escapes each '<' in a JSON document, because text in a script element must not look like a tag.
std::string without_tags(std::string_view json);

// Replaces the placeholders of the page with texts. Does not search inserted text for placeholders.
std::string fill_page(std::string_view page,
                      const std::vector<std::pair<std::string_view, std::string_view>>& parts);

}  // namespace vitrine::inspector
