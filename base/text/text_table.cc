#include "base/text/text_table.h"

#include <algorithm>
#include <utility>

#include "base/text/text_layout.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kTightGap = 1;
constexpr size_t kMinName = 6;
constexpr size_t kReadableName = 12;
constexpr const char* kHighlight = "\x1b[33m";
constexpr const char* kReset = "\x1b[0m";

const std::string& fitting(const TextTable::Cell& cell, size_t width) {
  return display_width(cell.text) <= width || cell.brief.empty() ? cell.text : cell.brief;
}

std::string aligned(const std::string& text, TextTable::Kind kind, size_t width) {
  switch (kind) {
    case TextTable::Kind::kFigure:
      return align_right(text, width);
    case TextTable::Kind::kName:
      return align_left(cut_right(text, width), width);
    case TextTable::Kind::kTail:
      return align_left(cut_left(text, width), width);
    case TextTable::Kind::kBar:
      break;
  }
  return text;
}

}  // namespace

void TextTable::add_column(std::string title, Kind kind, bool is_optional) {
  columns_.push_back({std::move(title), kind, is_optional});
}

void TextTable::add_row(std::vector<Cell> cells, bool is_highlighted) {
  rows_.push_back({.cells = std::move(cells), .is_highlighted = is_highlighted});
}

void TextTable::add_total(Cell label, size_t label_column, std::vector<std::string> figures,
                          size_t first_figure) {
  Row row{.cells = std::vector<Cell>(columns_.size(), Cell("")),
          .label = std::move(label),
          .label_column = label_column};
  for (size_t i = 0; i < figures.size(); ++i) row.cells[first_figure + i].text = figures[i];
  totals_.push_back(std::move(row));
}

size_t TextTable::Layout::gap(size_t column) const {
  return column == 0 ? 0 : is_figure[column] ? figure_gap : kGap;
}

size_t TextTable::Layout::total() const {
  size_t total = 0;
  for (size_t c = 0; c < widths.size(); ++c) {
    if (widths[c] != 0) total += gap(c) + widths[c];
  }
  return total;
}

bool TextTable::is_name(size_t column) const {
  return columns_[column].kind == Kind::kName || columns_[column].kind == Kind::kTail;
}

size_t TextTable::natural_width(size_t column, bool brief) const {
  size_t width = 0;
  for (const auto* rows : {&rows_, &totals_}) {
    for (const Row& row : *rows) {
      const Cell& cell = row.cells[column];
      const bool abbreviate = brief && !cell.brief.empty();
      width = std::max(width, display_width(abbreviate ? cell.brief : cell.text));
    }
  }
  // Without rows, the label column must be as wide as the labels of totals.
  for (const Row& row : totals_) {
    if (!rows_.empty() || row.label_column != column) continue;
    const bool abbreviate = brief && !row.label.brief.empty();
    width = std::max(width, display_width(abbreviate ? row.label.brief : row.label.text));
  }
  return width == 0 ? 0 : std::max(width, display_width(columns_[column].title));
}

// A label spans the columns up to the first figure of its row. Widens the label column if these are
// too narrow.
void TextTable::widen_for_labels(Layout& layout) const {
  for (const Row& row : totals_) {
    size_t available = layout.widths[row.label_column];
    if (available == 0) continue;
    for (size_t c = row.label_column + 1; c < columns_.size() && row.cells[c].text.empty(); ++c) {
      if (layout.widths[c] != 0) available += layout.gap(c) + layout.widths[c];
    }
    const size_t needed = display_width(row.label.brief.empty() ? row.label.text : row.label.brief);
    if (needed > available) layout.widths[row.label_column] += needed - available;
  }
}

// Narrows the widest name column by one cell. Columns of short names are narrowed only if there are
// no others. Returns false if no column can be narrowed.
bool TextTable::narrow_a_name(Layout& layout, const std::vector<size_t>& needed) const {
  for (const size_t max_kept : {kReadableName, size_t{0}}) {
    size_t* widest = nullptr;
    for (size_t c = 0; c < columns_.size(); ++c) {
      size_t& width = layout.widths[c];
      if (!is_name(c) || width <= kMinName || needed[c] <= max_kept) continue;
      if (widest == nullptr || width > *widest) widest = &width;
    }
    if (widest == nullptr) continue;
    --*widest;
    return true;
  }
  return false;
}

bool TextTable::has_unreadable_names(const Layout& layout) const {
  for (size_t c = 0; c < columns_.size(); ++c) {
    const size_t needed = std::min(natural_width(c, true), kReadableName);
    if (is_name(c) && layout.widths[c] < needed) return true;
  }
  return false;
}

TextTable::Layout TextTable::lay_out(size_t width) const {
  Layout layout = lay_out(width, true);
  return has_unreadable_names(layout) ? lay_out(width, false) : layout;
}

TextTable::Layout TextTable::lay_out(size_t width, bool with_optional) const {
  const auto natural = [&](size_t column, bool brief) {
    return with_optional || !columns_[column].is_optional ? natural_width(column, brief) : 0;
  };
  Layout layout;
  for (size_t c = 0; c < columns_.size(); ++c) {
    layout.widths.push_back(natural(c, false));
    layout.is_figure.push_back(columns_[c].kind == Kind::kFigure);
  }
  widen_for_labels(layout);
  if (layout.total() <= width) return layout;

  layout.figure_gap = kTightGap;
  const std::vector<size_t> full = layout.widths;
  for (size_t c = 0; c < columns_.size(); ++c) layout.widths[c] = natural(c, true);
  widen_for_labels(layout);
  const std::vector<size_t> needed = layout.widths;
  while (layout.total() > width) {
    if (!narrow_a_name(layout, needed)) return layout;
  }
  // Distributes the remaining cells to abbreviated columns.
  for (size_t c = 0; c < columns_.size(); ++c) {
    layout.widths[c] = std::min(full[c], layout.widths[c] + width - layout.total());
  }
  return layout;
}

std::string TextTable::line(const Row& row, const Layout& layout) const {
  const bool is_total = !row.label.text.empty();
  std::string text;
  size_t start = 0;        // start of the column
  size_t label_start = 0;  // start of the label in a total
  for (size_t c = 0; c < columns_.size(); ++c) {
    const size_t width = layout.widths[c];
    if (width == 0) continue;
    const size_t end = start;  // end of the previous column
    start += layout.gap(c);
    const Cell& cell = row.cells[c];
    if (is_total && c == row.label_column) label_start = start;
    if (is_total && c > row.label_column && !cell.text.empty() && text.empty()) {
      const std::string& label = fitting(row.label, end - label_start);
      text = std::string(label_start, ' ') + cut_right(label, end - label_start);
    }
    if (!is_total || !cell.text.empty()) {
      text = align_left(text, start) + aligned(fitting(cell, width), columns_[c].kind, width);
    }
    start += width;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string TextTable::text(size_t width, bool color) const {
  const Layout layout = lay_out(width);
  Row title;
  for (const Column& column : columns_) title.cells.emplace_back(column.title);
  std::string text = line(title, layout) + '\n';
  for (const Row& row : rows_) {
    const bool is_colored = color && row.is_highlighted;
    text += (is_colored ? kHighlight : "") + line(row, layout) + (is_colored ? kReset : "") + '\n';
  }
  if (totals_.empty()) return text;
  for (size_t i = 0; i < layout.total(); ++i) text += "─";
  text += '\n';
  for (const Row& row : totals_) text += line(row, layout) + '\n';
  return text;
}

}  // namespace vitrine::inspector
