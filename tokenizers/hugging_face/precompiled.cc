#include "tokenizers/hugging_face/precompiled.h"

#include <fmt/format.h>

#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kUnitBytes = 4;
constexpr size_t kMostWholeGrapheme = 5;  // bytes

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = kUnitBytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Of a unit.
uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 1U << 9) >> 6); }
bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFFU; }
uint32_t label_of(uint32_t unit) { return unit & 0x800000FFU; }

}  // namespace

PrecompiledTable::PrecompiledTable(std::string_view bytes, std::string place)
    : place_(std::move(place)) {
  const size_t size = bytes.size() < kUnitBytes ? 0 : little_endian(bytes);
  if (size == 0 || size % kUnitBytes != 0 || size > bytes.size() - kUnitBytes) {
    fail(fmt::format("{} bytes are not a table of replacements", bytes.size()));
  }
  for (size_t i = 0; i < size; i += kUnitBytes) {
    units_.push_back(little_endian(bytes.substr(kUnitBytes + i, kUnitBytes)));
  }
  replacements_ = bytes.substr(kUnitBytes + size);
  if (well_formed(replacements_) != replacements_) fail("a replacement is not UTF-8");
}

void PrecompiledTable::fail(std::string_view what) const {
  throw TokenizerError(fmt::format("{}: precompiled_charsmap: {}", place_, what));
}

uint32_t PrecompiledTable::unit(uint32_t index) const {
  if (index >= units_.size()) {
    fail(fmt::format("leads to unit {} of {}", index, units_.size()));
  }
  return units_[index];
}

std::string_view PrecompiledTable::replacement_at(uint32_t begin) const {
  const bool is_inside = begin <= replacements_.size();
  const bool is_in_character =
      is_inside && begin < replacements_.size() && (replacements_[begin] & 0xC0) == 0x80;
  if (!is_inside || is_in_character) fail(fmt::format("no replacement begins at {}", begin));
  const std::string_view rest = std::string_view(replacements_).substr(begin);
  return rest.substr(0, rest.find('\0'));
}

// Of the shortest beginning that the trie has.
std::optional<std::string_view> PrecompiledTable::find(std::string_view text) const {
  uint32_t at = offset_of(unit(0));
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte == 0) break;
    at ^= byte;
    const uint32_t next = unit(at);
    if (label_of(next) != byte) break;
    at ^= offset_of(next);
    if (has_value(next)) return replacement_at(value_of(unit(at)));
  }
  return std::nullopt;
}

std::string PrecompiledTable::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  each_grapheme(text, [&](std::string_view grapheme) {
    if (grapheme.size() <= kMostWholeGrapheme) {
      if (const auto replacement = find(grapheme)) {
        out += *replacement;
        return;
      }
    }
    for (size_t i = 0; i < grapheme.size();) {
      const std::string_view character = grapheme.substr(i, character_at(grapheme, i).size);
      out += find(character).value_or(character);
      i += character.size();
    }
  });
  return out;
}

}  // namespace vitrine::hugging_face
