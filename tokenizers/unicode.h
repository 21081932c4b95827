// Unicode functions based on ICU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace vitrine {

// Replaces each incomplete character and each other invalid byte with U+FFFD. Throws TokenizerError
// if the text is longer than 256 MiB.
std::string well_formed(std::string_view text);

// Returns true if the bytes are an incomplete character.
bool could_begin_character(std::string_view bytes);

// The number of U+FFFD. kByRun: one for each incomplete character and each other invalid byte.
// kByByte: one for each invalid byte.
enum class Faults { kByRun, kByByte };

// Returns characters as soon as their bytes are complete.
class CharacterStream {
 public:
  explicit CharacterStream(Faults faults = Faults::kByRun) : faults_(faults) {}
  std::string push(std::string_view bytes);
  std::string finish();

 private:
  Faults faults_;
  std::string pending_;  // the beginning of a character
};

// A character and its size in bytes.
struct Character {
  char32_t value;
  size_t size;
};
// Precondition: a character of well-formed text begins at `position`.
Character character_at(std::string_view text, size_t position);
void append_character(std::string& text, char32_t character);
size_t count_characters(std::string_view text);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string normalized(std::string_view text, NormalForm form);
// Estimates the steps of TextBudget in which normalized() sorts combining marks. The steps grow
// with the square of the number of marks in a run.
uint64_t sorting_steps(std::string_view text);
// Converts each character independently of its neighbors.
std::string lower_case(std::string_view text);

// Visits the extended grapheme clusters of well-formed text.
void each_grapheme(std::string_view text, const std::function<void(std::string_view)>& visit);

struct CharacterRange {
  char32_t first;
  char32_t last;
};
bool is_in(std::span<const CharacterRange> ranges, char32_t character);

bool is_white_space(char32_t character);
bool is_punctuation(char32_t character);  // category P, or ASCII that is not a letter or digit
bool is_numeric(char32_t character);      // category N
bool is_mark(char32_t character);         // category M
bool is_nonspacing_mark(char32_t character);
bool is_control(char32_t character);    // category C, except unassigned characters
bool is_word_part(char32_t character);  // \w: letters, marks, digits, connectors
bool is_ideograph(char32_t character);  // the CJK characters of BERT's normalizer

}  // namespace vitrine
