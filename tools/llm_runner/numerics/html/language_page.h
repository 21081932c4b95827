// Parts of the HTML page that shows the numerical errors of a language model. The build generates
// these strings from the files in this folder and in inspector/report/html.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

// The page has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kLanguagePage;
extern const std::string_view kLanguageScript;  // follows the inspector's kElements

}  // namespace vitrine::llm::html
