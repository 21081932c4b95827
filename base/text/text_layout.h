// Lays out UTF-8 text. Widths are in terminal cells. Names from files may contain any bytes, so
// pass them through printable() first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

inline constexpr size_t kMinWidth = 40;  // minimum width of a report, in cells
inline constexpr size_t kLongOp = 60;    // reports abbreviate wider lists of ops
inline constexpr std::string_view kDot = " · ";
inline constexpr std::string_view kBetween = "   ";

// Replaces control characters and invalid UTF-8 with '?', so that names cannot control a terminal.
std::string printable(std::string_view text);

// Returns the width of printable text in cells: 0 for combining marks, 2 for wide East Asian
// characters and emoji.
size_t display_width(std::string_view text);

// Cuts text to at most `width` cells. An ellipsis replaces the removed side.
std::string cut_left(std::string_view text, size_t width);
std::string cut_right(std::string_view text, size_t width);

// Cuts a text to at most `width` cells. An ellipsis replaces the middle.
std::string cut_middle(std::string_view text, size_t width);

// Cuts a dotted path to at most `width` cells: "layers.0.attention.rope.apply" becomes "…0…apply".
// Leaves out parts from left to right, but never the last part. Parts without digits are left out
// first, because numbers distinguish layers.
std::string cut_path(std::string_view path, size_t width);

std::string align_left(std::string_view text, size_t width);
std::string align_right(std::string_view text, size_t width);

// Joins `parts` with `separator` and breaks lines at `width`, preferably between parts. The first
// line starts with `first`. The other lines are indented by the width of `first`. Lines end with
// '\n'.
std::string wrap(std::string_view first, const std::vector<std::string>& parts,
                 std::string_view separator, size_t width);

// Wraps running text as wrap() does, but breaks lines at spaces.
std::string wrap_words(std::string_view first, std::string_view text, size_t width);

// Returns "note: ..." for each note, wrapped to lines. Makes the notes printable.
std::string wrap_notes(const std::vector<std::string>& notes, size_t width);

// Replaces the names after the first `max` with a text such as "3 more". Never returns "1 more": a
// single name stays.
std::vector<std::string> first_names(std::vector<std::string> names, size_t max);

// Returns a bar of block characters. Its width is share * width cells, rounded to 1/8 cell.
std::string bar(double share, size_t width);

}  // namespace vitrine::inspector
