// Lays out UTF-8 text in the columns of a terminal. Widths are in cells. Names come from files and
// may contain any bytes, so they must pass through printable() first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

inline constexpr size_t kMinWidth = 40;  // minimum width of a report, in cells
inline constexpr size_t kLongOp = 60;    // wider lists of ops are abbreviated in every report
inline constexpr std::string_view kDot = " · ";
inline constexpr std::string_view kBetween = "   ";

// Replaces control characters and bytes that are not UTF-8 with '?', so that no name can control a
// terminal.
std::string printable(std::string_view text);

// Returns the width of printable text in cells. Combining marks have width 0, wide East Asian
// characters and emoji width 2.
size_t display_width(std::string_view text);

// Cuts text to at most `width` cells, with an ellipsis on the side where it was cut.
std::string cut_left(std::string_view text, size_t width);
std::string cut_right(std::string_view text, size_t width);

// Cuts a text to at most `width` cells by removing its middle, for names that differ at either end.
std::string cut_middle(std::string_view text, size_t width);

// Cuts a dotted path to at most `width` cells, for example "layers.0.attention.rope.apply" to
// "…0…apply". Leaves out parts from left to right, first those without digits, but never the last
// part. Numbers distinguish layers, so they are kept if at least four cells of the last part also
// fit.
std::string cut_path(std::string_view path, size_t width);

// Pads text with spaces to `width` cells.
std::string align_left(std::string_view text, size_t width);
std::string align_right(std::string_view text, size_t width);

// Joins `parts` with `separator` and breaks lines between parts at `width`. If a part is wider than
// a line, breaks the part at its spaces. The first line starts with `first`. The other lines are
// indented by the width of `first`. Lines end with '\n'.
std::string wrap(std::string_view first, const std::vector<std::string>& parts,
                 std::string_view separator, size_t width);

// Wraps running text in the same way as wrap(), but breaks lines at spaces.
std::string wrap_words(std::string_view first, std::string_view text, size_t width);

// Returns "note: ..." on separate lines for each note. Makes the notes printable.
std::string wrap_notes(const std::vector<std::string>& notes, size_t width);

// Keeps the first `max` names and replaces the others with a text such as "3 more". If only one
// name would be left out, keeps it, because "1 more" is not shorter.
std::vector<std::string> first_names(std::vector<std::string> names, size_t max);

// Returns a bar of block characters whose width is share * width cells, rounded to an eighth of a
// cell.
std::string bar(double share, size_t width);

}  // namespace vitrine::inspector
