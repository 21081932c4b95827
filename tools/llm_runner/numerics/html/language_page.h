// The page that shows a language model's errors. The build embeds the page from files of this
// folder and of the inspector's folder.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

// The page has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kLanguagePage;
extern const std::string_view kLanguageScript;  // follows the inspector's kElements

}  // namespace vitrine::llm::html
