// Spaces written as a visible character, U+2581 as a rule; pre-tokenizer and decoder share it.
#pragma once

#include <string>

#include "base/json.h"

namespace vitrine::hugging_face {

struct Metaspace {
  enum class Prepend { kAlways, kFirst, kNever };

  explicit Metaspace(const JsonValue& step);

  std::string replacement;
  Prepend prepend = Prepend::kAlways;
  bool split = true;
};

}  // namespace vitrine::hugging_face
