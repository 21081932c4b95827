// Writes a profile for spreadsheets: a header, then one line per row (RFC 4180).
#pragma once

#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

// Writes one line per row, then `unattributed`. Lists in a cell are joined with ';'. Times are in
// ns.
std::string report_csv(const Profile& profile);

// Writes one line per group of a view, or per row for kNone. In a tree, all figures of a group
// except own_avg_ns include the groups below it. Lines for the remaining time follow ("not shown",
// "filtered out", "unattributed"). The own_avg_ns of all lines add up to the wall time.
std::string report_csv(const Profile& profile, const View& view);

}  // namespace vitrine::inspector
