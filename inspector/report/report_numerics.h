// Writes the errors of a program's operators as a table, CSV or JSON (docs/numerics.md).
#pragma once

#include <string>

#include "inspector/compare/numerics.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

inline constexpr int kNumericsJsonVersion = 1;

std::string report_numerics(const Numerics& numerics, const Profile& program,
                            const Profile& reference, const TableOptions& options = {});
std::string report_numerics_csv(const Numerics& numerics, const Profile& program);
// Adds the times of `timed`, a profile that was made without capturing values. `timed` may be null.
std::string report_numerics_json(const Numerics& numerics, const Profile& program,
                                 const Profile& reference, const Profile* timed = nullptr);

}  // namespace vitrine::inspector
