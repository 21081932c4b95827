#pragma once

#include <string>
#include <vector>

#include "inspector/join/profile.h"
#include "inspector/report/report_table.h"

namespace vitrine::inspector {

// Compares profiles of one program with different numbers of threads, in a table with a column of
// medians for each profile. The last column is the first profile's median divided by the last
// profile's median. If the profiles have different rows, the table has only the sums.
// RunInfo::threads must be set. `profiles` must not be empty.
std::string report_sweep(const std::vector<Profile>& profiles, const TableOptions& options);

// Writes a JSON list of the profiles.
std::string report_sweep_json(const std::vector<Profile>& profiles);

}  // namespace vitrine::inspector
