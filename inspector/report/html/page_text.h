// The parts of the page. The build embeds them from the files of this folder.
#pragma once

#include <string_view>

namespace vitrine::inspector::html {

// Contains the placeholders {{style}}, {{head}}, {{data}}, {{head data}} and {{script}}.
extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kScript;
extern const std::string_view kStart;  // must be the end of the script

}  // namespace vitrine::inspector::html
