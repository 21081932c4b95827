// Formats a table of aligned columns for a given width. Names are abbreviated and cut to fit;
// figures are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::inspector {

class TextTable {
 public:
  enum class Kind : uint8_t {
    kFigure,  // aligned to the right, never cut
    kName,    // aligned to the left, cut at its end
    kTail,    // aligned to the left, cut at its start, for paths, whose end matters most
    kBar,     // aligned to the left, never cut
  };
  struct Cell {
    Cell(std::string full) : text(std::move(full)) {}  // NOLINT(google-explicit-constructor)
    Cell(std::string full, std::string abbreviated)
        : text(std::move(full)), brief(std::move(abbreviated)) {}
    std::string text;
    std::string brief = {};  // used if `text` does not fit; if empty, `text` is cut
  };

  // A column without any text is left out. An optional column is also left out if other names would
  // become unreadably short.
  void add_column(std::string title, Kind kind, bool is_optional = false);
  // `cells` has one cell for each column.
  void add_row(std::vector<Cell> cells, bool is_highlighted = false);
  // Adds a row below a rule, for sums over rows. `label` spans the columns from `label_column` to
  // the first figure; `figures` fill the columns from `first_figure` on.
  void add_total(Cell label, size_t label_column, std::vector<std::string> figures,
                 size_t first_figure);

  // Returns the table as lines that end with '\n'. If `color`, highlighted rows are in color.
  std::string text(size_t width, bool color) const;

 private:
  struct Column {
    std::string title;
    Kind kind;
    bool is_optional;
  };
  struct Row {
    std::vector<Cell> cells;
    bool is_highlighted = false;
    Cell label = {""};  // only in totals
    size_t label_column = 0;
  };
  struct Layout {
    std::vector<size_t> widths;  // indexed by column; 0 if the column is left out
    size_t figure_gap = 2;       // cells before a figure
    size_t total() const;
    std::vector<bool> is_figure;
    size_t gap(size_t column) const;
  };

  bool is_name(size_t column) const;
  size_t natural_width(size_t column, bool brief) const;
  void widen_for_labels(Layout& layout) const;
  bool narrow_a_name(Layout& layout, const std::vector<size_t>& needed) const;
  bool has_unreadable_names(const Layout& layout) const;
  Layout lay_out(size_t width, bool with_optional) const;
  Layout lay_out(size_t width) const;
  std::string line(const Row& row, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<Row> totals_;
};

}  // namespace vitrine::inspector
