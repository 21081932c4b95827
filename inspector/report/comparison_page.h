// Writes HTML pages of comparisons: lines of text, tables, and optionally a tab with the graph of
// B. A page without a graph has no scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

class ComparisonPage {
 public:
  // The title of the page consists of the names of A and B.
  ComparisonPage(std::string_view a, std::string_view b);

  void add_heading(std::string_view text);
  void add_line(std::string_view text);
  // Writes a line with the verdict, in larger type.
  void add_verdict(std::string_view text);

  struct Column {
    std::string title;
    bool is_figure = false;  // aligned to the right
  };
  struct Row {
    std::vector<std::string> cells;
    const char* kind = "";  // "single" for rows that one side lacks, "total", "marked", or empty
    double change = 0;      // draws a bar: to the right if B takes longer, to the left if B takes
                            // less time
    // The rows of B's profile that this table row shows, and their device queue (empty for the
    // CPU). The page links them to nodes of the graph.
    std::vector<size_t> rows_b = {};
    std::string queue = {};
  };
  // Every row has one cell for each column. A table without changes has no bars.
  void add_table(const std::vector<Column>& columns, const std::vector<Row>& rows);

  // Call once, at the end. `graph` is the result of graph_tab_data() in report_graph.h; may be
  // empty.
  std::string page(std::string_view graph = {});

 private:
  std::string title_;
  std::string body_;
};

}  // namespace vitrine::inspector
