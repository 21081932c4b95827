// The page that shows a language model's errors. The build makes these texts from the files of this
// folder and of inspector/report/html.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

// The page has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kLanguagePage;
extern const std::string_view kLanguageScript;  // follows the inspector's kElements

}  // namespace vitrine::llm::html
