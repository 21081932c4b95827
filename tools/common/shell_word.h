#pragma once

#include <string>
#include <string_view>

namespace vitrine::tools {

// Returns the word, in single quotes if a shell would otherwise change it.
std::string shell_word(std::string_view word);

}  // namespace vitrine::tools
