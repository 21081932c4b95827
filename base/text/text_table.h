// Formats a table for a given width. Abbreviates and cuts names and leaves out unimportant columns,
// but never cuts figures. Keeps the names of a column different if the width allows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::inspector {

class TextTable {
 public:
  enum class Kind : uint8_t {
    kFigure,   // aligned to the right, never cut
    kName,     // aligned to the left, cut at its end
    kUniform,  // aligned to the left, cut in its middle; abbreviates all names or none
    kTail,     // aligned to the left, cut at its start
    kPath,     // aligned to the left, cut by cut_path()
    kBar,      // aligned to the left, never cut
  };
  struct Cell {
    Cell(std::string full) : text(std::move(full)) {}  // NOLINT(google-explicit-constructor)
    Cell(const char* full) : text(full) {}             // NOLINT(google-explicit-constructor)
    Cell(std::string full, std::string abbreviated)
        : text(std::move(full)), brief(std::move(abbreviated)) {}
    std::string text;
    std::string brief = {};  // used if `text` does not fit; if empty, `text` is cut
  };

  // Adds a column. The table leaves out columns without text. If names would be cut too short,
  // columns of a rank above 0 are left out, highest rank first. Columns that tell rows apart are
  // left out last.
  void add_column(Cell title, Kind kind, size_t rank = 0);
  void add_row(std::vector<Cell> cells, bool is_highlighted = false);
  // Adds a total below a horizontal line. `figures` fill the columns from `first_figure` on.
  // `label` spans the columns from `label_column`, which must have rank 0, to the first figure.
  void add_total(Cell label, size_t label_column, std::vector<std::string> figures,
                 size_t first_figure);

  // Returns lines that end with '\n'. If `color`, highlighted rows are in color.
  std::string text(size_t width, bool color) const;

 private:
  struct Column {
    Cell title;
    Kind kind;
    size_t rank;
  };
  struct Row {
    std::vector<Cell> cells;
    bool is_highlighted = false;
    Cell label = {""};  // label of a total
    size_t label_column = 0;
  };
  struct Layout {
    std::vector<size_t> widths;        // indexed by column; 0 if the column is left out
    std::vector<bool> is_abbreviated;  // for kUniform
    size_t figure_gap = 2;             // cells before a figure
    size_t total() const;
    std::vector<bool> is_figure;
    size_t gap(size_t column) const;
  };

  // Widths of the longest full and the longest abbreviated text of each column. The widths are 0
  // for a column without text.
  struct NaturalWidths {
    std::vector<size_t> full, brief;
  };

  bool is_name(size_t column) const;
  size_t natural_width(size_t column, bool brief) const;
  size_t distinct_width(size_t column, size_t max) const;
  void widen_for_labels(Layout& layout) const;
  void widen_names(Layout& layout, const NaturalWidths& natural, size_t width) const;
  std::optional<Layout> fit(const std::vector<bool>& is_shown, const NaturalWidths& natural,
                            const std::vector<size_t>& min_widths, size_t width) const;
  size_t count_distinct_rows(const std::vector<bool>& is_shown) const;
  std::optional<size_t> next_to_leave_out(const std::vector<bool>& is_shown,
                                          bool keeps_rows_distinct) const;
  Layout lay_out(size_t width) const;
  std::string line(const Row& row, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<Row> totals_;
};

}  // namespace vitrine::inspector
