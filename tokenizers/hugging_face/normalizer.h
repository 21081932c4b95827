// The "normalizer" of a tokenizer.json: what is done to text before anything else.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"

namespace vitrine::hugging_face {

// Changes a well-formed text in place; thread-safe.
using Normalizer = std::function<void(std::string&)>;

// `place` names the file. Throws FormatError or TokenizerError.
Normalizer read_normalizer(const JsonValue& json, const std::string& place);

// TokenizerError if texts of `before` bytes became too large, those of many together.
void check_growth(size_t before, size_t after, const std::string& place);

}  // namespace vitrine::hugging_face
