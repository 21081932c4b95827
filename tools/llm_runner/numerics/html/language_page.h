// The page of a language model's errors. The build generates its strings from this folder and from
// inspector/report/html.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

// The page has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kLanguagePage;
extern const std::string_view kLanguageScript;  // follows the inspector's kElements

}  // namespace vitrine::llm::html
