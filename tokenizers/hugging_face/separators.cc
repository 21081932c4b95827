#include "tokenizers/hugging_face/separators.h"

#include <memory>

#include "tokenizers/pattern.h"
#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {

SeparatorFinder characters_that(bool (*is_separator)(char32_t)) {
  return [is_separator](std::string_view text, TextBudget&) {
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
  return [literal = std::move(literal)](std::string_view text, TextBudget&) {
    std::vector<TextRange> found;
    for (size_t at = text.find(literal); at != std::string_view::npos;
         at = text.find(literal, at + literal.size())) {
      found.push_back({at, at + literal.size()});
    }
    return found;
  };
}

SeparatorFinder runs_of(size_t characters) {
  return [characters](std::string_view text, TextBudget&) {
    std::vector<TextRange> found;
    size_t count = 0;
    for (size_t i = 0; i < text.size();) {
      if (count++ % characters == 0) found.push_back({i, i});
      i += character_at(text, i).size;
      found.back().end = i;
    }
    return found;
  };
}

SeparatorFinder matches_of(const std::string& expression, const std::string& place) {
  const auto pattern =
      std::make_shared<const Pattern>(expression, PatternSyntax::kHuggingFace, place);
  return [pattern](std::string_view text, TextBudget& budget) {
    std::vector<TextRange> found;
    if (text.empty()) return found;
    pattern->each_match(text, budget, [&](size_t begin, size_t end) {
      found.push_back({begin, end});
    });
    return found;
  };
}

SeparatorFinder read_pattern(const JsonValue& json, const std::string& place) {
  const auto [kind, value] = json.variant();
  // An empty string counts as an empty regular expression. It matches between all characters.
  if (kind == "String" && !value.string().empty()) return occurrences_of(value.string());
  if (kind != "Regex" && kind != "String") json.fail("is neither a String nor a Regex");
  return matches_of(value.string(), place);
}

}  // namespace vitrine::hugging_face
