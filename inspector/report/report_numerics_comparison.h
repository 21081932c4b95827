// Writes the errors of two programs side by side as a table, CSV, JSON or a page for a browser
// (docs/numerics.md). The page works without a network and other files.
#pragma once

#include <string>

#include "inspector/compare/numerics_comparison.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kNumericsComparisonJsonVersion = 1;

struct NumericsSide {
  const Numerics& numerics;
  const Profile& program;
  // A profile that was made without capturing values, for the times in JSON and on the page. May be
  // null.
  const Profile* timed = nullptr;
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
// Names are shown as text, never as markup.
std::string report_numerics_comparison_html(const NumericsComparison& comparison,
                                            const NumericsSide& a, const NumericsSide& b,
                                            const Profile& reference);

}  // namespace vitrine::inspector
