// The "normalizer" of a tokenizer.json changes a text before it is split.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "tokenizers/text_budget.h"

namespace vitrine::hugging_face {

// Changes a well-formed text in place. Thread-safe.
using Normalizer = std::function<void(std::string&, TextBudget&)>;

// Reads the "normalizer". `place` names the file in errors. Throws FormatError or TokenizerError.
Normalizer read_normalizer(const JsonValue& json, const std::string& place);

}  // namespace vitrine::hugging_face
