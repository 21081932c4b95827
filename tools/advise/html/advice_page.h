// The HTML, CSS and JavaScript of the advice at the top of a profile's page. The build embeds them
// from the files of this folder.
#pragma once

#include <string_view>

namespace vitrine::tools::html {

extern const std::string_view kElements;
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace vitrine::tools::html
