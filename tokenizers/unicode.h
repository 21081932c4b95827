// What tokenizers need of Unicode, by ICU: well-formed UTF-8, normal forms, classes of characters.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace vitrine {

// `text` with U+FFFD for each longest run that is not a character but could begin one.
// TokenizerError if it is longer than 256 MiB.
std::string well_formed(std::string_view text);

// Whether bytes are the beginning of a character that lacks its end.
bool could_begin_character(std::string_view bytes);

// What U+FFFD stands for: a run as above, or each byte that belongs to no character.
enum class Faults { kByRun, kByByte };

// Bytes in, characters out as soon as they are complete.
class CharacterStream {
 public:
  explicit CharacterStream(Faults faults = Faults::kByRun) : faults_(faults) {}
  std::string push(std::string_view bytes);
  std::string finish();

 private:
  Faults faults_;
  std::string pending_;  // a character's beginning
};

// The character at `position` of well-formed text, and its bytes.
struct Character {
  char32_t value;
  size_t size;
};
Character character_at(std::string_view text, size_t position);
void append_character(std::string& text, char32_t character);
size_t count_characters(std::string_view text);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string normalized(std::string_view text, NormalForm form);
// Character by character: no rule looks at neighbours.
std::string lower_case(std::string_view text);

// Extended grapheme clusters of well-formed text: what a reader takes for one character.
void each_grapheme(std::string_view text, const std::function<void(std::string_view)>& visit);

struct CharacterRange {
  char32_t first;
  char32_t last;
};
bool is_in(std::span<const CharacterRange> ranges, char32_t character);

bool is_white_space(char32_t character);
bool is_punctuation(char32_t character);  // category P, or ASCII that is neither letter nor digit
bool is_numeric(char32_t character);      // category N
bool is_mark(char32_t character);         // category M
bool is_nonspacing_mark(char32_t character);
bool is_control(char32_t character);    // category C, unassigned characters apart
bool is_word_part(char32_t character);  // \w: letters, marks, digits, connectors
bool is_ideograph(char32_t character);  // CJK, as BERT counts them

}  // namespace vitrine
