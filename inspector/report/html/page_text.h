// The page's parts, embedded by the build from the files of this folder.
#pragma once

#include <string_view>

namespace vitrine::inspector::html {

extern const std::string_view kPage;  // with the places "{{style}}", "{{data}}", "{{script}}"
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace vitrine::inspector::html
