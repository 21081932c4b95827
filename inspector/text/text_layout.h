// Text in columns of a terminal: UTF-8, widths in cells. Names come from files and may hold
// anything: printable() first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

// Layout that reports share.
inline constexpr size_t kMinWidth = 80;  // of a report, in cells
inline constexpr size_t kLongOp = 60;    // longer lists of ops are abbreviated at any width
inline constexpr std::string_view kDot = " · ";
inline constexpr std::string_view kBetween = "   ";

// Control characters and bytes that are not UTF-8 become '?', so that no name can steer a terminal.
std::string printable(std::string_view text);

// Cells that printable text takes: combining marks 0, wide East Asian characters and emoji 2.
size_t display_width(std::string_view text);

// At most `width` cells, with an ellipsis for what was cut off on that side.
std::string cut_left(std::string_view text, size_t width);
std::string cut_right(std::string_view text, size_t width);

// Filled with spaces to `width` cells.
std::string align_left(std::string_view text, size_t width);
std::string align_right(std::string_view text, size_t width);

// `parts` joined with `separator`, broken between parts before `width`. `first` begins the first
// line; further lines begin with as many spaces. Lines end with '\n'.
std::string wrap(std::string_view first, const std::vector<std::string>& parts,
                 std::string_view separator, size_t width);

// The same for running text: broken at its spaces.
std::string wrap_words(std::string_view first, std::string_view text, size_t width);

// Each note as "note: ..." in lines of its own, whatever it holds.
std::string wrap_notes(const std::vector<std::string>& notes, size_t width);

// `share` of `width` cells in blocks, in eighths.
std::string bar(double share, size_t width);

}  // namespace vitrine::inspector
