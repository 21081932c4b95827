#include "base/text/text_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/core/printable.h"

namespace vitrine::inspector {
namespace {

constexpr std::string_view kEllipsis = "…";

struct Range {
  uint32_t first, last;
};
constexpr Range kUnprintable[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x200b, 0x200f},
                                  {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
                                  {0xfff9, 0xfffd}};
constexpr Range kCombining[] = {{0x300, 0x36f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
                                {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr Range kWide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},  {0x3400, 0x4dbf}, {0x4e00, 0x9fff},
    {0xa000, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f}, {0xff00, 0xff60},
    {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};

template <size_t n>
bool is_in(const Range (&ranges)[n], uint32_t value) {
  return std::any_of(ranges, ranges + n, [value](const Range& range) {
    return range.first <= value && value <= range.last;
  });
}

size_t width_of(uint32_t value) {
  if (is_in(kCombining, value)) return 0;
  return is_in(kWide, value) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (next.value == CodePoint::kInvalid || is_in(kUnprintable, next.value)) {
      clean += '?';
    } else {
      clean += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return clean;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    width += width_of(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string cut_left(std::string_view text, size_t width) {
  size_t excess = display_width(text);
  if (excess <= width) return std::string(text);
  if (width == 0) return "";
  std::string_view rest = text;
  while (excess > width - 1) {
    const CodePoint next = first_code_point(rest);
    excess -= width_of(next.value);
    rest.remove_prefix(next.bytes);
  }
  return std::string(kEllipsis) + std::string(rest);
}

std::string cut_right(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string head;
  size_t used = 0;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (used + width_of(next.value) > width - 1) break;
    used += width_of(next.value);
    head += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return head + std::string(kEllipsis);
}

std::string align_left(std::string_view text, size_t width) {
  const size_t used = display_width(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string align_right(std::string_view text, size_t width) {
  const size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string wrap(std::string_view first, const std::vector<std::string>& parts,
                 std::string_view separator, size_t width) {
  const size_t indent = display_width(first);
  std::string lines(first);
  size_t used = indent;
  bool is_line_empty = true;
  for (const std::string& part : parts) {
    const size_t needed = display_width(part) + (is_line_empty ? 0 : display_width(separator));
    if (!is_line_empty && used + needed > width) {
      lines += '\n' + std::string(indent, ' ');
      used = indent;
      is_line_empty = true;
    }
    if (!is_line_empty) lines += separator;
    lines += part;
    used += is_line_empty ? display_width(part) : needed;
    is_line_empty = false;
  }
  return lines + '\n';
}

std::string wrap_words(std::string_view first, std::string_view text, size_t width) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return wrap(first, words, " ", width);
}

std::string wrap_notes(const std::vector<std::string>& notes, size_t width) {
  std::string text;
  for (const std::string& note : notes) text += wrap_words("note: ", printable(note), width);
  return text;
}

std::string bar(double share, size_t width) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double bounded = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto eighths = static_cast<size_t>(std::lround(bounded * 8 * static_cast<double>(width)));
  std::string blocks;
  for (size_t i = 0; i < eighths / 8; ++i) blocks += "█";
  return blocks + std::string(kEighths[eighths % 8]);
}

}  // namespace vitrine::inspector
