// The regular expressions of tokenizer.json files are written for Oniguruma, in its default
// (Ruby's) syntax: https://github.com/kkos/oniguruma/blob/master/doc/RE.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::hugging_face {

// The same expression for ICU. It needs no flags, and no group of it is named. Throws
// TokenizerError that names `place` and the construct if ICU has nothing like it.
std::string icu_expression(std::string_view oniguruma, const std::string& place);

}  // namespace vitrine::hugging_face
