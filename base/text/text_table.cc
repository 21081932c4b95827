#include "base/text/text_table.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/text_layout.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kTightGap = 1;
constexpr size_t kMinDistinctName = 6;
constexpr const char* kHighlight = "\x1b[33m";
constexpr const char* kReset = "\x1b[0m";

// A stage of cutting names. A table tries the stages in order until it fits.
struct CuttingStage {
  size_t min_name;           // names are not cut below this width
  bool keeps_different;      // different names of a column stay different
  bool leaves_out_columns;   // columns are left out before names are cut further
  bool keeps_rows_distinct;  // left-out columns are not needed to tell rows apart
};
constexpr CuttingStage kStages[] = {{24, true, true, true},
                                    {10, true, false, true},
                                    {kMinDistinctName, true, true, false},
                                    {kMinDistinctName, false, false, false},
                                    {1, false, false, false}};

const std::string& brief_of(const TextTable::Cell& cell) {
  return cell.brief.empty() ? cell.text : cell.brief;
}

const std::string& fitting(const TextTable::Cell& cell, size_t width) {
  return display_width(cell.text) <= width ? cell.text : brief_of(cell);
}

std::string cut(std::string_view text, TextTable::Kind kind, size_t width) {
  switch (kind) {
    case TextTable::Kind::kName:
      return cut_right(text, width);
    case TextTable::Kind::kUniform:
      return cut_middle(text, width);
    case TextTable::Kind::kTail:
      return cut_left(text, width);
    case TextTable::Kind::kPath:
      return cut_path(text, width);
    case TextTable::Kind::kFigure:
    case TextTable::Kind::kBar:
      break;
  }
  return std::string(text);
}

}  // namespace

void TextTable::add_column(Cell title, Kind kind, size_t rank) {
  columns_.push_back({std::move(title), kind, rank});
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
  return columns_[column].kind != Kind::kFigure && columns_[column].kind != Kind::kBar;
}

size_t TextTable::natural_width(size_t column, bool brief) const {
  const auto width_of = [brief](const Cell& cell) {
    return display_width(brief ? brief_of(cell) : cell.text);
  };
  size_t width = 0;
  for (const auto* rows : {&rows_, &totals_}) {
    for (const Row& row : *rows) width = std::max(width, width_of(row.cells[column]));
  }
  for (const Row& row : totals_) {
    if (!rows_.empty() || row.label_column != column) continue;
    width = std::max(width, width_of(row.label));
  }
  return width == 0 ? 0 : std::max(width, width_of(columns_[column].title));
}

// Returns the smallest width at which the column's abbreviated names still differ, or 0 if this
// width exceeds `max`.
size_t TextTable::distinct_width(size_t column, size_t max) const {
  std::set<std::string_view> names;
  for (const Row& row : rows_) names.insert(brief_of(row.cells[column]));
  for (size_t width = kMinDistinctName; width <= max; ++width) {
    std::set<std::string> seen;
    const bool are_distinct = std::ranges::all_of(names, [&](std::string_view name) {
      return seen.insert(cut(name, columns_[column].kind, width)).second;
    });
    if (are_distinct) return width;
  }
  return 0;
}

// Widens the label column of a total if the label does not fit between its column and the total's
// first figure.
void TextTable::widen_for_labels(Layout& layout) const {
  for (const Row& row : totals_) {
    size_t available = layout.widths[row.label_column];
    if (available == 0) continue;
    for (size_t c = row.label_column + 1; c < columns_.size(); ++c) {
      if (layout.widths[c] == 0) continue;
      if (!row.cells[c].text.empty()) break;
      available += layout.gap(c) + layout.widths[c];
    }
    const size_t needed = display_width(brief_of(row.label));
    if (needed > available) layout.widths[row.label_column] += needed - available;
  }
}

// Distributes the free cells among the columns of names. First narrows columns of paths to their
// longest cut path. Then widens columns with cut names. Finally replaces abbreviations with full
// names.
void TextTable::widen_names(Layout& layout, const NaturalWidths& natural, size_t width) const {
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].kind != Kind::kPath || layout.widths[c] == 0) continue;
    if (std::ranges::count(totals_, c, &Row::label_column) != 0) continue;  // labels fill it
    size_t used = std::min(display_width(brief_of(columns_[c].title)), layout.widths[c]);
    for (const Row& row : rows_) {
      const std::string shown = cut(brief_of(row.cells[c]), Kind::kPath, layout.widths[c]);
      used = std::max(used, display_width(shown));
    }
    layout.widths[c] = used;
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (layout.widths[c] == 0) continue;
    const size_t available = layout.widths[c] + width - layout.total();
    layout.widths[c] = std::max(layout.widths[c], std::min(natural.brief[c], available));
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].kind != Kind::kUniform || layout.widths[c] == 0) continue;
    const size_t available = layout.widths[c] + width - layout.total();
    layout.is_abbreviated[c] = natural.full[c] > available;
    if (!layout.is_abbreviated[c]) layout.widths[c] = natural.full[c];
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].kind == Kind::kUniform || layout.widths[c] == 0) continue;
    const size_t available = layout.widths[c] + width - layout.total();
    if (natural.full[c] <= available) {
      layout.widths[c] = std::max(layout.widths[c], natural.full[c]);
      continue;
    }
    for (const Row& row : rows_) {
      const size_t useful = display_width(row.cells[c].text);
      if (useful <= available) layout.widths[c] = std::max(layout.widths[c], useful);
    }
  }
}

// Returns a layout in which no column of names is cut below its minimum width, or nullopt if the
// layout exceeds `width`.
std::optional<TextTable::Layout> TextTable::fit(const std::vector<bool>& is_shown,
                                                const NaturalWidths& natural,
                                                const std::vector<size_t>& min_widths,
                                                size_t width) const {
  Layout layout;
  for (size_t c = 0; c < columns_.size(); ++c) {
    layout.widths.push_back(is_shown[c] ? natural.full[c] : 0);
    layout.is_abbreviated.push_back(false);
    layout.is_figure.push_back(columns_[c].kind == Kind::kFigure);
  }
  widen_for_labels(layout);
  if (layout.total() <= width) return layout;

  layout.figure_gap = kTightGap;
  for (size_t c = 0; c < columns_.size(); ++c) {
    layout.widths[c] = is_shown[c] ? natural.brief[c] : 0;
    if (is_name(c)) layout.widths[c] = std::min(layout.widths[c], width);
  }
  widen_for_labels(layout);
  while (layout.total() > width) {
    size_t* widest = nullptr;
    for (size_t c = 0; c < columns_.size(); ++c) {
      size_t& column = layout.widths[c];
      if (!is_name(c) || column <= min_widths[c]) continue;
      if (widest == nullptr || column > *widest) widest = &column;
    }
    if (widest == nullptr) return std::nullopt;
    --*widest;
  }
  widen_names(layout, natural, width);
  return layout;
}

size_t TextTable::count_distinct_rows(const std::vector<bool>& is_shown) const {
  std::set<std::vector<std::string_view>> names;
  for (const Row& row : rows_) {
    std::vector<std::string_view> of_row;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (is_shown[c] && is_name(c)) of_row.push_back(brief_of(row.cells[c]));
    }
    names.insert(std::move(of_row));
  }
  return names.size();
}

// Returns the shown column with the highest rank.
std::optional<size_t> TextTable::next_to_leave_out(const std::vector<bool>& is_shown,
                                                   bool keeps_rows_distinct) const {
  const size_t before = keeps_rows_distinct ? count_distinct_rows(is_shown) : 0;
  std::optional<size_t> next;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (!is_shown[c] || columns_[c].rank <= (next ? columns_[*next].rank : 0)) continue;
    std::vector<bool> without = is_shown;
    without[c] = false;
    const bool is_needed =
        keeps_rows_distinct && is_name(c) && count_distinct_rows(without) != before;
    if (!is_needed) next = c;
  }
  return next;
}

TextTable::Layout TextTable::lay_out(size_t width) const {
  NaturalWidths natural;
  std::vector<bool> is_shown;
  std::vector<size_t> distinct;
  for (size_t c = 0; c < columns_.size(); ++c) {
    natural.full.push_back(natural_width(c, false));
    natural.brief.push_back(natural_width(c, true));
    is_shown.push_back(natural.full[c] != 0);
    // Names of a column may become equal if distinct names need more than 2/3 of the table.
    const size_t max = std::min(natural.brief[c], width * 2 / 3);
    distinct.push_back(is_name(c) ? distinct_width(c, max) : 0);
  }
  std::vector<size_t> min_widths(columns_.size());
  for (const CuttingStage& stage : kStages) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const size_t min = std::max(stage.min_name, stage.keeps_different ? distinct[c] : 0);
      min_widths[c] = std::min(natural.brief[c], min);
    }
    for (;;) {
      if (auto layout = fit(is_shown, natural, min_widths, width)) return *layout;
      if (!stage.leaves_out_columns) break;
      const auto next = next_to_leave_out(is_shown, stage.keeps_rows_distinct);
      if (!next) break;
      is_shown[*next] = false;
    }
  }
  // Figures are never cut, so the table can be too wide at this point. Exceeds the width as little
  // as possible.
  for (;; ++width) {
    if (auto layout = fit(is_shown, natural, min_widths, width)) return *layout;
  }
}

std::string TextTable::line(const Row& row, const Layout& layout) const {
  const bool is_total = !row.label.text.empty();
  std::string text;
  size_t start = 0;
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
      const Kind kind = columns_[c].kind;
      const bool is_brief = kind == Kind::kUniform && layout.is_abbreviated[c];
      const std::string shown = cut(is_brief ? brief_of(cell) : fitting(cell, width), kind, width);
      text = align_left(text, start);
      text += kind == Kind::kFigure ? align_right(shown, width) : shown;
    }
    start += width;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string TextTable::text(size_t width, bool color) const {
  const Layout layout = lay_out(width);
  Row title;
  for (const Column& column : columns_) title.cells.push_back(column.title);
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
