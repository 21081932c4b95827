#include "tokenizers/unicode.h"

#include <fmt/format.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utext.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

// Maximum size of a text. ICU's offsets have 32 bits, and normalization may lengthen a text.
constexpr size_t kMaxTextBytes = 1 << 28;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append_well_formed(std::string& out, std::string_view text, Faults faults = Faults::kByRun) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t i = 0; i < size;) {
    const int64_t begin = i;
    UChar32 character = 0;
    U8_NEXT(bytes, i, size, character);
    if (character < 0) {
      const int64_t count = faults == Faults::kByByte ? i - begin : 1;
      for (int64_t fault = 0; fault < count; ++fault) out += kReplacement;
    } else {
      out.append(text, static_cast<size_t>(begin), static_cast<size_t>(i - begin));
    }
  }
}

// Returns the size of the text without an incomplete character at its end.
size_t complete_size(std::string_view text) {
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  auto end = static_cast<ptrdiff_t>(text.size());  // signed: the macro subtracts from it
  U8_TRUNCATE_IF_INCOMPLETE(data, 0, end);
  return static_cast<size_t>(end);
}

const UNormalizer2* normalizer(NormalForm form) {
  // The functions have the order of the values of NormalForm.
  static constexpr std::array kForms = {unorm2_getNFCInstance, unorm2_getNFDInstance,
                                        unorm2_getNFKCInstance, unorm2_getNFKDInstance};
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* found = kForms[static_cast<size_t>(form)](&status);
  if (U_FAILURE(status) || found == nullptr) {
    throw TokenizerError("ICU cannot load its data for normal forms; install its data package");
  }
  return found;
}

std::u16string utf16(std::string_view text) {
  std::u16string out(text.size(), 0);  // UTF-16 never has more units than UTF-8 has bytes
  size_t size = 0;
  for (size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    i += character.size;
    U16_APPEND_UNSAFE(out.data(), size, character.value);
  }
  out.resize(size);
  return out;
}

std::string utf8(std::u16string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    char32_t character = 0;
    U16_NEXT_UNSAFE(text, i, character);
    append_character(out, character);
  }
  return out;
}

bool has_category(char32_t character, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(character)) & mask) != 0;
}

}  // namespace

std::string well_formed(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw TokenizerError(
        fmt::format("a text has {} bytes; at most {} are accepted", text.size(), kMaxTextBytes));
  }
  std::string out;
  out.reserve(text.size());
  append_well_formed(out, text);
  return out;
}

bool could_begin_character(std::string_view bytes) {
  return !bytes.empty() && complete_size(bytes) == 0;
}

std::string CharacterStream::push(std::string_view bytes) {
  pending_ += bytes;
  const size_t complete = complete_size(pending_);
  std::string out;
  append_well_formed(out, std::string_view(pending_).substr(0, complete), faults_);
  pending_.erase(0, complete);
  return out;
}

std::string CharacterStream::finish() {
  std::string out;
  append_well_formed(out, std::exchange(pending_, std::string()), faults_);
  return out;
}

Character character_at(std::string_view text, size_t position) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  size_t end = position;
  UChar32 character = 0;
  U8_NEXT_OR_FFFD(bytes, end, text.size(), character);
  return {static_cast<char32_t>(character), end - position};
}

void append_character(std::string& text, char32_t character) {
  std::array<uint8_t, U8_MAX_LENGTH> bytes{};
  size_t size = 0;
  U8_APPEND_UNSAFE(bytes.data(), size, character);
  text.append(reinterpret_cast<const char*>(bytes.data()), size);
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string normalized(std::string_view text, NormalForm form) {
  if (std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; })) return std::string(text);
  const UNormalizer2* const form_data = normalizer(form);
  const std::u16string from = utf16(text);
  std::u16string to(from.size() + from.size() / 2, 0);
  for (;;) {
    UErrorCode status = U_ZERO_ERROR;
    const int32_t size = unorm2_normalize(form_data, from.data(), static_cast<int32_t>(from.size()),
                                          to.data(), static_cast<int32_t>(to.size()), &status);
    if (U_FAILURE(status) && status != U_BUFFER_OVERFLOW_ERROR) {
      throw TokenizerError(std::string("the text cannot be normalized: ") + u_errorName(status));
    }
    to.resize(static_cast<size_t>(size));
    if (U_SUCCESS(status)) return utf8(to);
  }
}

uint64_t sorting_steps(std::string_view text) {
  constexpr uint64_t kMarksPerStep = 16;  // measured: a mark passes about 16 others in 10 ns
  uint64_t steps = 0;
  uint64_t run = 0;
  for (size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    i += character.size;
    const bool is_sorted =
        character.value >= 0x300 && u_getCombiningClass(static_cast<UChar32>(character.value)) != 0;
    run = is_sorted ? run + 1 : 0;
    steps += run / kMarksPerStep;
  }
  return steps;
}

std::string lower_case(std::string_view text) {
  // The only character whose lower case has two characters.
  constexpr char32_t kCapitalIWithDot = 0x130;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    i += character.size;
    if (character.value == kCapitalIWithDot) {
      out += "i\xCC\x87";
    } else {
      append_character(out,
                       static_cast<char32_t>(u_tolower(static_cast<UChar32>(character.value))));
    }
  }
  return out;
}

void each_grapheme(std::string_view text, const std::function<void(std::string_view)>& visit) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UBreakIterator, decltype(&ubrk_close)> breaks(
      ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status), &ubrk_close);
  const std::unique_ptr<UText, decltype(&utext_close)> source(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status),
      &utext_close);
  ubrk_setUText(breaks.get(), source.get(), &status);
  if (U_FAILURE(status)) {
    throw TokenizerError(std::string("the text cannot be split into characters: ") +
                         u_errorName(status));
  }
  auto begin = static_cast<size_t>(ubrk_first(breaks.get()));
  for (int32_t end = ubrk_next(breaks.get()); end != UBRK_DONE; end = ubrk_next(breaks.get())) {
    visit(text.substr(begin, static_cast<size_t>(end) - begin));
    begin = static_cast<size_t>(end);
  }
}

bool is_in(std::span<const CharacterRange> ranges, char32_t c) {
  return std::ranges::any_of(
      ranges, [c](const CharacterRange& range) { return c >= range.first && c <= range.last; });
}

bool is_white_space(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0; }

bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && u_isalnum(static_cast<UChar32>(c)) == 0;
  return has_category(c, U_GC_P_MASK);
}

bool is_numeric(char32_t c) { return has_category(c, U_GC_N_MASK); }
bool is_mark(char32_t c) { return has_category(c, U_GC_M_MASK); }
bool is_nonspacing_mark(char32_t c) { return has_category(c, U_GC_MN_MASK); }
bool is_control(char32_t c) { return has_category(c, U_GC_C_MASK & ~U_GC_CN_MASK); }

bool is_word_part(char32_t c) {
  constexpr char32_t kZeroWidthNonJoiner = 0x200C;
  constexpr char32_t kZeroWidthJoiner = 0x200D;
  return u_isUAlphabetic(static_cast<UChar32>(c)) != 0 || c == kZeroWidthNonJoiner ||
         c == kZeroWidthJoiner || has_category(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK);
}

bool is_ideograph(char32_t c) {
  constexpr CharacterRange kRanges[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                        {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF},
                                        {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return is_in(kRanges, c);
}

}  // namespace vitrine
