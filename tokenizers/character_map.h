// SentencePiece's compiled character map replaces texts with other texts, mostly to normalize them.
// SentencePiece models and the tokenizer.json files of T5, mBART and XLM-R contain one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// The format of a map; all numbers are little-endian. A map consists of a u32, which is the size of
// a trie in bytes, then the trie, and then the replacements, each followed by a NUL. The trie is a
// double array of Darts-clone: it maps texts to the offsets of their replacements. Each unit of the
// array is a u32:
//
//   bits 0..7   the byte that leads to the unit; a value has bit 31 and the value below
//   bit 8       a value follows
//   bit 9       the offset counts in units of 256
//   bits 10..   the offset of what follows
class CharacterMap {
 public:
  // Checks all parts of the map that a search can reach, because SentencePiece uses the map without
  // checking it. Units and replacements must be inside of the map, the trie must not have a cycle,
  // at most 32 texts may be prefixes of each other, and no replacement may have more than 12 times
  // the bytes of its text. Throws TokenizerError otherwise. `place` names the map in errors.
  CharacterMap(std::string_view bytes, const std::string& place);

  // Normalizes like Hugging Face's library. If a grapheme has fewer than 6 bytes and begins with
  // texts of the map, the replacement of the shortest of these texts replaces the whole grapheme.
  // Other graphemes are replaced character by character.
  std::string apply(std::string_view text) const;

 private:
  std::optional<std::string_view> find(std::string_view text) const;
  std::string_view replacement_at(uint32_t begin) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace vitrine
