// A comparison for people (a table) and for programs (JSON, docs/inspecting.md).
#pragma once

#include <string>

#include "inspector/compare/comparison.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kComparisonJsonVersion = 1;

// The sides are called by RunInfo::model. TableOptions::ids adds each side's row numbers.
std::string report_comparison(const Comparison& comparison, const Profile& a, const Profile& b,
                              const TableOptions& options = {});
std::string report_comparison_json(const Comparison& comparison, const Profile& a,
                                   const Profile& b);

}  // namespace vitrine::inspector
