// HTML, CSS and JavaScript at the top of a token profile's page, embedded from this folder's files.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

extern const std::string_view kElements;
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace vitrine::llm::html
