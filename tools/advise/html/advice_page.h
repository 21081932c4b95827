// HTML, CSS and JavaScript of the advice in a profile's page, embedded from this folder's files.
#pragma once

#include <string_view>

namespace vitrine::tools::html {

extern const std::string_view kElements;
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace vitrine::tools::html
