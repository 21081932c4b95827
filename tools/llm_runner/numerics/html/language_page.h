// The page of the errors of a language model. The build embeds it from the files of this folder and
// the inspector's.
#pragma once

#include <string_view>

namespace vitrine::llm::html {

// Has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kLanguagePage;
extern const std::string_view kLanguageScript;  // follows the inspector's kElements

}  // namespace vitrine::llm::html
