#include "tokenizers/hugging_face/separators.h"

#include <memory>

#include "tokenizers/pattern.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {

SeparatorFinder characters_that(bool (*is_separator)(char32_t)) {
  return [is_separator](std::string_view text) {
    std::vector<TextRange> found;
    for (size_t i = 0; i < text.size();) {
      const Character character = character_at(text, i);
      if (is_separator(character.value)) found.push_back({i, i + character.size});
      i += character.size;
    }
    return found;
  };
}

SeparatorFinder occurrences_of(std::string literal) {
  return [literal = std::move(literal)](std::string_view text) {
    std::vector<TextRange> found;
    if (literal.empty()) return found;
    for (size_t at = text.find(literal); at != std::string_view::npos;
         at = text.find(literal, at + literal.size())) {
      found.push_back({at, at + literal.size()});
    }
    return found;
  };
}

SeparatorFinder matches_of(const std::string& expression, const std::string& place) {
  const auto pattern = std::make_shared<const Pattern>(expression, place, true);
  return [pattern](std::string_view text) {
    std::vector<TextRange> found;
    pattern->each_match(text, [&](size_t begin, size_t end) {
      if (begin < end) found.push_back({begin, end});
    });
    return found;
  };
}

SeparatorFinder read_pattern(const JsonValue& json, const std::string& place) {
  const auto [kind, value] = json.variant();
  if (kind == "String") return occurrences_of(value.string());
  if (kind != "Regex") json.fail("is neither a String nor a Regex");
  return matches_of(value.string(), place);
}

}  // namespace vitrine::hugging_face
