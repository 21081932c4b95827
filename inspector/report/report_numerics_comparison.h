// Writes the errors of two programs side by side as a table, CSV or JSON (docs/numerics.md).
#pragma once

#include <string>

#include "inspector/compare/numerics_comparison.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kNumericsComparisonJsonVersion = 1;

// A program and its errors.
struct NumericsSide {
  const Numerics& numerics;
  const Profile& program;
};

// With options.view.top, the table shows the pairs whose total errors differ most.
std::string report_numerics_comparison(const NumericsComparison& comparison, const NumericsSide& a,
                                       const NumericsSide& b, const Profile& reference,
                                       const TableOptions& options = {});
std::string report_numerics_comparison_csv(const NumericsComparison& comparison,
                                           const NumericsSide& a, const NumericsSide& b);
std::string report_numerics_comparison_json(const NumericsComparison& comparison,
                                            const NumericsSide& a, const NumericsSide& b,
                                            const Profile& reference);

}  // namespace vitrine::inspector
