// SentencePiece's compiled character map: replaces texts by other texts, mostly to normalize them.
// SentencePiece models and the tokenizer.json of T5, mBART and XLM-R have one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// All numbers are little-endian. The map is a u32, the size of a trie in bytes; the trie; and the
// replacements, each with a NUL after it. The trie is a double array of Darts-clone: it maps texts
// to the offsets of their replacements. Each of its units is a u32:
//
//   bits 0..7   the byte that leads to the unit; a value has bit 31 and the value below
//   bit 8       a value follows
//   bit 9       the offset counts in units of 256
//   bits 10..   the offset of what follows
class CharacterMap {
 public:
  // Checks everything that a search can reach, because SentencePiece uses the same bytes and does
  // not check: units and replacements are inside of the map, no text leads in a circle, at most 32
  // texts are beginnings of each other, and no replacement has more than 12 times the bytes of its
  // text. Throws TokenizerError otherwise. `place` names the map in errors.
  CharacterMap(std::string_view bytes, const std::string& place);

  // Normalizes like Hugging Face's library: replaces a grapheme of less than 6 bytes by the
  // replacement of its shortest beginning that has one, and other graphemes character by character.
  std::string apply(std::string_view text) const;

 private:
  std::optional<std::string_view> find(std::string_view text) const;
  std::string_view replacement_at(uint32_t begin) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace vitrine
