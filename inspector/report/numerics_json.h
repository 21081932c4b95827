// Writes the errors of a program's operators as JSON values and CSV cells, for several reports.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "inspector/compare/numerics.h"
#include "inspector/join/profile.h"
#include "inspector/report/report_numerics_comparison.h"

namespace vitrine::inspector {

// Returns null if `figures` is unset. Numbers that are infinite or NaN become null.
nlohmann::ordered_json figures_json(const std::optional<TensorDifference>& figures);
// Returns the SQNR as a CSV cell: a number, "inf", "-inf" or "nan". The cell is empty if `figures`
// is unset.
std::string sqnr_csv(const std::optional<TensorDifference>& figures);
// Returns the profile's model, method, origin and warnings.
nlohmann::ordered_json program_json(const Profile& profile);

// Returns the typical time of row `row` in `timed`. Returns null if `timed` is null, if the
// profiles have different numbers of rows, or if row `row` is not the same operator in both.
nlohmann::ordered_json time_json(const Profile* timed, const Profile& program, size_t row);

// Returns the document of report_numerics_json(). If `timed` is null, rows have no times.
nlohmann::ordered_json numerics_json(const Numerics& numerics, const Profile& program,
                                     const Profile& reference, const Profile* timed);

// Returns the document of report_numerics_comparison_json().
nlohmann::ordered_json numerics_comparison_json(const NumericsComparison& comparison,
                                                const NumericsSide& a, const NumericsSide& b,
                                                const Profile& reference);

}  // namespace vitrine::inspector
