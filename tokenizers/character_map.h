// SentencePiece's compiled character map replaces texts, mostly to normalize them. SentencePiece
// models and the tokenizer.json files of T5, mBART and XLM-R contain a map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// A compiled map has three parts: the size of a trie in bytes (u32), the trie, and the
// replacements, each followed by a NUL. All numbers are little-endian. The trie is a double array
// of Darts-clone. It maps texts to the offsets of their replacements. Each unit is a u32:
//
//   bits 0..7    the byte that leads to this unit
//   bit 8        1 if a text ends with this byte; its value is then the unit at `base`
//   bit 9        1 if the offset is in multiples of 256
//   bits 10..30  the offset; `base` is the index of this unit XOR the offset
//   bit 31       1 if this unit is a value: bits 0..30 are then the offset of a replacement
//
// The next byte b of a text leads to the unit with the index base XOR b.
class CharacterMap {
 public:
  // SentencePiece does not check the map, so this constructor checks all parts that a search can
  // reach. `place` names the map in errors. Throws TokenizerError in these cases:
  //
  // - The size of the trie is invalid or exceeds 4 MiB.
  // - A unit or a replacement is outside of the map, or a replacement is not UTF-8.
  // - The trie has a cycle.
  // - One path of the trie has more than 32 texts.
  // - A replacement has more than 12 times as many bytes as its text.
  CharacterMap(std::string_view bytes, const std::string& place);

  // Normalizes as Hugging Face's library does. If a grapheme of at most 5 bytes begins with a text
  // of the map, the replacement of the shortest such text replaces the whole grapheme. Other
  // graphemes are replaced character by character.
  std::string apply(std::string_view text) const;

 private:
  std::optional<std::string_view> find(std::string_view text) const;
  std::string_view replacement_at(uint32_t begin) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace vitrine
