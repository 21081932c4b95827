// Writes a comparison as a table, JSON, CSV or a page (docs/inspecting.md).
#pragma once

#include <string>
#include <string_view>

#include "inspector/compare/comparison.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kComparisonJsonVersion = 1;

// Returns a table. RunInfo::model names A and B. TableOptions::ids adds the row numbers of A and B.
std::string report_comparison(const Comparison& comparison, const Profile& a, const Profile& b,
                              const TableOptions& options = {});
std::string report_comparison_json(const Comparison& comparison, const Profile& a,
                                   const Profile& b);
// Writes one line per op, then `unattributed` and `wall`. Times are medians in ns.
std::string report_comparison_csv(const Comparison& comparison, const Profile& a, const Profile& b);
// Writes the table as a page, with a bar for each change. If `graph` is the result of
// graph_tab_data() (report_graph.h) for B's program, the page has a tab with the graph. If `graph`
// is empty, the page has no scripts.
std::string report_comparison_html(const Comparison& comparison, const Profile& a, const Profile& b,
                                   std::string_view graph = {});

}  // namespace vitrine::inspector
