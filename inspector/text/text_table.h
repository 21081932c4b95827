// A table of aligned columns that gives way to a width: names are abbreviated and cut, figures
// never.
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
    kFigure,  // to the right, never cut
    kName,    // to the left, cut at its end
    kTail,    // to the left, cut at its beginning: paths and the like, whose end tells most
    kBar,     // to the left, never cut
  };
  struct Cell {
    Cell(std::string full) : text(std::move(full)) {}  // NOLINT(google-explicit-constructor)
    Cell(std::string full, std::string abbreviated)
        : text(std::move(full)), brief(std::move(abbreviated)) {}
    std::string text;
    std::string brief = {};  // where `text` does not fit; empty: `text` is cut
  };

  // Every row has a cell for every column. A name column without any text is left out; a spare one
  // also where names would be cut to little.
  void add_column(std::string title, Kind kind, bool is_spare = false);
  void add_row(std::vector<Cell> cells, bool stands_out = false);
  // Below a rule: figures of all rows together. `label` takes the room of the names from column
  // `label_column` on; `figures` those of the columns from `first_figure` on.
  void add_total(Cell label, size_t label_column, std::vector<std::string> figures,
                 size_t first_figure);

  // Lines with '\n'. Rows that stand out are in colour if `color`.
  std::string text(size_t width, bool color) const;

 private:
  struct Column {
    std::string title;
    Kind kind;
    bool is_spare;
  };
  struct Row {
    std::vector<Cell> cells;
    bool stands_out = false;
    Cell label = {""};  // of totals
    size_t label_column = 0;
  };
  struct Layout {
    std::vector<size_t> widths;  // by column; 0: left out
    size_t figure_gap = 2;       // before a figure
    size_t total() const;
    std::vector<bool> is_figure;
    size_t gap(size_t column) const;
  };

  bool is_name(size_t column) const;
  size_t natural_width(size_t column, bool brief) const;
  void make_room_for_labels(Layout& layout) const;
  bool cut_a_name(Layout& layout, const std::vector<size_t>& needed) const;
  bool cuts_to_little(const Layout& layout) const;
  Layout lay_out(size_t width, bool with_spare) const;
  Layout lay_out(size_t width) const;
  std::string line(const Row& row, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<Row> totals_;
};

}  // namespace vitrine::inspector
