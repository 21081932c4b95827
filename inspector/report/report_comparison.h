// Writes a comparison as a table, JSON, CSV or a page (docs/inspecting.md).
#pragma once

#include <string>

#include "inspector/compare/comparison.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kComparisonJsonVersion = 1;

// RunInfo::model names A and B. TableOptions::ids adds the row numbers of both.
std::string report_comparison(const Comparison& comparison, const Profile& a, const Profile& b,
                              const TableOptions& options = {});
std::string report_comparison_json(const Comparison& comparison, const Profile& a,
                                   const Profile& b);
// Writes one line per op, then `unattributed` and `wall`. Times are medians in ns.
std::string report_comparison_csv(const Comparison& comparison, const Profile& a, const Profile& b);
// Writes a page without scripts: the table, with a bar for each change.
std::string report_comparison_html(const Comparison& comparison, const Profile& a,
                                   const Profile& b);

}  // namespace vitrine::inspector
