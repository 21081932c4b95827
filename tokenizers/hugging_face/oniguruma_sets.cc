#include "tokenizers/hugging_face/oniguruma_sets.h"

#include <fmt/format.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

struct NamedSet {
  std::string_view name;
  std::string_view items;  // of an ICU set
};
// As measured, character by character: the documentation of Oniguruma differs.
constexpr NamedSet kNamedSets[] = {
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"alpha", R"(\p{Alphabetic})"},
    {"ascii", R"(\x00-\x7F)"},
    {"blank", R"(\p{Zs}\x09)"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"graph", R"([^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}])"},
    {"lower", R"(\p{Lowercase})"},
    {"print", R"([^\p{Zl}\p{Zp}\p{Cc}\p{Cn}\p{Cs}])"},
    {"punct", R"(\p{P}\p{S})"},
    {"space", R"(\p{White_Space})"},
    {"upper", R"(\p{Uppercase})"},
    {"word", R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
    {"xdigit", R"(0-9A-Fa-f)"},
};

// Superscripts and fractions of Latin-1 are words' too, but not in a class.
constexpr std::string_view kMoreOfWord = R"(\u00B2\u00B3\u00B9\u00BC-\u00BE)";

struct SetLetter {
  char letter;
  std::string_view name;
};
constexpr SetLetter kSetLetters[] = {
    {'d', "digit"}, {'h', "xdigit"}, {'s', "space"}, {'w', "word"}};

struct CharacterLetter {
  char letter;
  char32_t value;
};
constexpr CharacterLetter kCharacterLetters[] = {{'a', 0x07}, {'e', 0x1B}, {'f', 0x0C}, {'n', 0x0A},
                                                 {'r', 0x0D}, {'t', 0x09}, {'v', 0x0B}};

}  // namespace

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_letter(char32_t c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::string quoted(char32_t c) {
  if (c < 0x80 && !is_digit(c) && !is_letter(c)) {
    return fmt::format("\\x{:02X}", static_cast<uint32_t>(c));
  }
  std::string text;
  append_character(text, c);
  return text;
}

std::string bracketed(std::string_view items, bool negated) {
  return fmt::format("[{}{}]", negated ? "^" : "", items);
}

std::optional<std::string> named_set(std::string_view name, bool negated, bool in_class) {
  const NamedSet* found = std::ranges::find(kNamedSets, name, &NamedSet::name);
  if (found == std::end(kNamedSets)) return std::nullopt;
  std::string items(found->items);
  if (name == "word" && !in_class) items += kMoreOfWord;
  return bracketed(items, negated);
}

std::optional<std::string> set_of_letter(char32_t letter, bool in_class) {
  const bool negated = letter >= 'A' && letter <= 'Z';
  const char32_t lower = negated ? letter - 'A' + 'a' : letter;
  const auto* row = std::ranges::find_if(
      kSetLetters, [&](const SetLetter& of) { return static_cast<char32_t>(of.letter) == lower; });
  if (row == std::end(kSetLetters)) return std::nullopt;
  return named_set(row->name, negated, in_class);
}

std::optional<std::string> known_set(std::string_view kind, std::string_view name, bool negated) {
  const std::string items = fmt::format("\\p{{{}{}}}", kind, name);
  UErrorCode status = U_ZERO_ERROR;
  const icu::UnicodeSet set(icu::UnicodeString::fromUTF8(items), status);
  if (U_FAILURE(status)) return std::nullopt;
  return bracketed(items, negated);
}

// ICU's own \b and \B take no notice of marks and formats.
std::string word_edge(bool negated) {
  return fmt::format("(?:(?<={0})(?{1}{0})|(?<!{0})(?{2}{0}))", *named_set("word", false, false),
                     negated ? '=' : '!', negated ? '!' : '=');
}

std::optional<char32_t> character_of_letter(char32_t letter) {
  const auto* row = std::ranges::find_if(kCharacterLetters, [&](const CharacterLetter& of) {
    return static_cast<char32_t>(of.letter) == letter;
  });
  if (row == std::end(kCharacterLetters)) return std::nullopt;
  return row->value;
}

}  // namespace vitrine::hugging_face
