// SentencePiece's compiled table of replacements, as the tokenizer.json of T5, mBART, XLM-R have
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::hugging_face {

// The table: the number of bytes of a double-array trie (u32, as all of it little-endian), the
// trie, and the replacements, each with a NUL after it. The trie maps texts to where their
// replacement begins. A unit of the trie is a u32:
//
//   bits 0..7   the byte that leads to it; a value has bit 31 and the value below
//   bit 8       a value follows
//   bit 9       the offset counts in units of 256
//   bits 10..   offset of what follows
class PrecompiledTable {
 public:
  // `place` names the file. TokenizerError if it is not such a table. Places in it are checked
  // where they are used.
  PrecompiledTable(std::string_view bytes, std::string place);

  // As tokenizers does it: a grapheme of less than 6 bytes is replaced whole by what its shortest
  // known beginning is replaced by, others character by character. TokenizerError if the table
  // leads out of itself.
  std::string apply(std::string_view text) const;

 private:
  std::optional<std::string_view> find(std::string_view text) const;
  uint32_t unit(uint32_t index) const;
  std::string_view replacement_at(uint32_t begin) const;
  [[noreturn]] void fail(std::string_view what) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
  std::string place_;
};

}  // namespace vitrine::hugging_face
