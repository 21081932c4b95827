// Writes the pages of comparisons: HTML without scripts, with lines and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

class ComparisonPage {
 public:
  // The names of A and B, which make the title.
  ComparisonPage(std::string_view a, std::string_view b);

  void add_heading(std::string_view text);
  // Writes a line of facts.
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
    double change = 0;      // draws a bar: to the right if B takes longer, to the left if less
  };
  // Every row has one cell for each column. Without any change, the table has no bars.
  void add_table(const std::vector<Column>& columns, const std::vector<Row>& rows);

  // Returns the page. Call this once, at the end.
  std::string page();

 private:
  std::string out_;
};

}  // namespace vitrine::inspector
