// Settings of the pre-tokenizer and the decoder Metaspace. Metaspace writes spaces as a visible
// character, mostly U+2581.
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
