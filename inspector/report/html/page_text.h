// The page's parts, embedded by the build from the files of this folder.
#pragma once

#include <string_view>

namespace vitrine::inspector::html {

// With the places "{{style}}", "{{head}}", "{{data}}", "{{head data}}", "{{script}}".
extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kScript;
extern const std::string_view kStart;  // runs last

}  // namespace vitrine::inspector::html
