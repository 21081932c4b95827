#include "tokenizers/hugging_face/byte_level.h"

#include <array>
#include <cstdint>

#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

// Bytes that are visible Latin-1 characters represent themselves. U+0100, U+0101, ... represent the
// other bytes in ascending order.
constexpr char32_t kFirstForOthers = 0x100;

constexpr bool is_visible(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<std::string, 256> characters;
  std::array<int16_t, 0x200> bytes;  // indexed by character; -1 outside of the alphabet

  Alphabet() {
    bytes.fill(-1);
    char32_t next = kFirstForOthers;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t character = is_visible(byte) ? static_cast<char32_t>(byte) : next++;
      append_character(characters[static_cast<size_t>(byte)], character);
      bytes[character] = static_cast<int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet kAlphabet;
  return kAlphabet;
}

}  // namespace

const char* const kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string to_byte_level(std::string_view bytes) {
  const Alphabet& known = alphabet();
  std::string out;
  for (const char byte : bytes) out += known.characters[static_cast<uint8_t>(byte)];
  return out;
}

std::string from_byte_level(std::string_view token) {
  const Alphabet& known = alphabet();
  std::string out;
  for (size_t i = 0; i < token.size();) {
    const Character character = character_at(token, i);
    i += character.size;
    const int byte = character.value < known.bytes.size() ? known.bytes[character.value] : -1;
    if (byte < 0) return std::string(token);
    out += static_cast<char>(byte);
  }
  return out;
}

}  // namespace vitrine::hugging_face
