#include "runtime/core/printable.h"

#include <algorithm>

namespace vitrine {
namespace {

struct Encoding {
  uint8_t mask, lead;
  uint16_t bytes;
  uint32_t min_value;  // smallest code point of this length
};
constexpr Encoding kEncodings[] = {
    {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

bool must_replace(uint32_t value) {
  return (value < 0x20 && value != '\n' && value != '\t') || (value >= 0x7f && value < 0xa0) ||
         value == CodePoint::kInvalid;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  for (const Encoding& encoding : kEncodings) {
    if ((lead & encoding.mask) != encoding.lead || text.size() < encoding.bytes) continue;
    uint32_t value = lead & static_cast<uint8_t>(~encoding.mask);
    for (size_t i = 1; i < encoding.bytes; ++i) {
      const auto next = static_cast<uint8_t>(text[i]);
      if ((next & 0xc0) != 0x80) return {};
      value = value << 6 | (next & 0x3f);
    }
    const bool is_surrogate = value >= 0xd800 && value < 0xe000;
    if (value < encoding.min_value || value > 0x10ffff || is_surrogate) return {};
    return {value, encoding.bytes};
  }
  return {};
}

void make_printable(std::span<char> text) {
  while (!text.empty()) {
    const CodePoint next = first_code_point({text.data(), text.size()});
    if (must_replace(next.value)) std::ranges::fill(text.first(next.bytes), '?');
    text = text.subspan(next.bytes);
  }
}

}  // namespace vitrine
