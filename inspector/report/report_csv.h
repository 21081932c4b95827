// Writes a profile for spreadsheets: a header, then one line per row (RFC 4180).
#pragma once

#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

// Writes one line per row. Lists in a cell are joined with ';'. The last line is `unattributed`.
// Times are in ns.
std::string report_csv(const Profile& profile);

// Writes one line per group of a view, or per row for kNone. In a tree, the figures of a group
// include the groups below it, except own_avg_ns: the sum of own_avg_ns over all groups and the
// last lines is the wall time.
std::string report_csv(const Profile& profile, const View& view);

}  // namespace vitrine::inspector
