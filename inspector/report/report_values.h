// Writes a comparison of recorded values as a table or as JSON (docs/inspecting.md).
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

}  // namespace vitrine::inspector
