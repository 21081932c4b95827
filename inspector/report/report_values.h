// Writes a comparison of recorded values as a table, JSON, CSV or a page (docs/inspecting.md).
#pragma once

#include <string>

#include "inspector/compare/value_comparison.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kValuesJsonVersion = 1;

std::string report_values(const ValueComparison& comparison, const Profile& a, const Profile& b,
                          const TableOptions& options = {});
std::string report_values_json(const ValueComparison& comparison, const Profile& a,
                               const Profile& b);
// Writes one line per op output, then the op outputs that are not comparable, then one line per
// program output.
std::string report_values_csv(const ValueComparison& comparison, const Profile& a,
                              const Profile& b);
// Writes a page without scripts: the table, and the op outputs that are not comparable.
std::string report_values_html(const ValueComparison& comparison, const Profile& a,
                               const Profile& b);

}  // namespace vitrine::inspector
