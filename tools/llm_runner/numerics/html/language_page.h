// The page that shows a language model's errors. The build generates the two strings below from
// files in this folder and in inspector/report/html.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

// The page has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kLanguagePage;
extern const std::string_view kLanguageScript;  // follows the inspector's kElements

}  // namespace vitrine::llm::html
