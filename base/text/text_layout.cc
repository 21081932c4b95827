#include "base/text/text_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

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

// A part of a dotted path, such as "layers" or "0".
struct PathPart {
  std::string_view text;
  // Parts with a low weight are left out first. A part without digits has weight 0, a part with
  // some digits 1, and a number 2. The last part has the highest weight.
  int weight = 0;
  bool is_kept = true;
};
constexpr int kNumber = 2;
constexpr int kLastPart = 3;

std::vector<PathPart> split_path(std::string_view path) {
  std::vector<PathPart> parts;
  for (size_t at = 0; at <= path.size();) {
    const size_t dot = std::min(path.find('.', at), path.size());
    const std::string_view text = path.substr(at, dot - at);
    const auto digits = std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; });
    const bool is_number = digits == std::ssize(text);
    parts.push_back({text, digits == 0 ? 0 : is_number ? kNumber : 1});
    at = dot + 1;
  }
  parts.back().weight = kLastPart;
  return parts;
}

// Joins the kept parts with dots. "…" replaces each run of missing parts, except a run at the end.
std::string join_kept(const std::vector<PathPart>& parts) {
  std::string text;
  bool has_gap = false;
  for (const PathPart& part : parts) {
    if (part.is_kept) {
      if (has_gap) {
        text += kEllipsis;
      } else if (!text.empty()) {
        text += '.';
      }
      text += part.text;
    }
    has_gap = !part.is_kept;
  }
  return text;
}

// A text that must stay on one line. The separator precedes the text, except at a line's start.
struct Piece {
  std::string_view separator, text;
};

// Splits `part` at spaces if the part is wider than `width`.
void add_pieces(std::string_view separator, std::string_view part, size_t width,
                std::vector<Piece>& pieces) {
  const bool is_broken = display_width(part) > width;
  while (is_broken) {
    const size_t space = part.find(' ', part.find_first_not_of(' '));
    if (space == std::string_view::npos) break;
    pieces.push_back({separator, part.substr(0, space)});
    part.remove_prefix(space);
    const size_t next = std::min(part.find_first_not_of(' '), part.size());
    separator = part.substr(0, next);
    part.remove_prefix(next);
  }
  pieces.push_back({separator, part});
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

std::string cut_middle(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  const size_t tail = width / 2;
  return cut_right(text, width - tail) + cut_left(text, tail + 1).substr(kEllipsis.size());
}

std::string cut_path(std::string_view path, size_t width) {
  size_t used = display_width(path);
  if (used <= width) return std::string(path);
  std::vector<PathPart> parts = split_path(path);
  for (int weight = 0; weight < kNumber; ++weight) {
    for (PathPart& part : parts) {
      if (used <= width || part.weight != weight) continue;
      part.is_kept = false;
      used -= display_width(part.text);
      if (&part != parts.data()) used -= 1;  // the separator; the first separator becomes "…"
    }
  }
  if (used <= width) return join_kept(parts);
  constexpr size_t kMinLastPart = 4;
  const std::string_view last = parts.back().text;
  const std::vector<PathPart> numbers(parts.begin(), parts.end() - 1);
  const std::string head = join_kept(numbers);
  const size_t head_width = display_width(head);
  if (head.empty() || head_width + kMinLastPart >= width) return cut_left(path, width);
  return head + cut_left(last, std::min(width - head_width, display_width(last) - 1));
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
  std::vector<Piece> pieces;
  for (const std::string& part : parts) {
    add_pieces(separator, part, width > indent ? width - indent : 0, pieces);
  }
  std::string lines(first);
  size_t used = indent;
  bool is_line_empty = true;
  for (const Piece& piece : pieces) {
    const size_t needed = display_width(piece.separator) + display_width(piece.text);
    if (!is_line_empty && used + needed > width) {
      lines += '\n' + std::string(indent, ' ');
      used = indent;
      is_line_empty = true;
    }
    if (!is_line_empty) lines += piece.separator;
    lines += piece.text;
    used += is_line_empty ? display_width(piece.text) : needed;
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

std::vector<std::string> first_names(std::vector<std::string> names, size_t max) {
  if (names.size() <= max + 1) return names;
  const size_t others = names.size() - max;
  names.resize(max);
  names.push_back(std::to_string(others) + " more");
  return names;
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
