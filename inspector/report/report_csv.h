// A profile for spreadsheets: one line a row, header first, RFC 4180.
#pragma once

#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

// Lists within a cell are joined with ';'. The last line is `unattributed`. Times in ns.
std::string report_csv(const Profile& profile);

// The groups of a view, one line each: lines of a tree contain those below them, except for
// own_avg_ns, which adds up with the last lines to the wall time. kNone: its rows.
std::string report_csv(const Profile& profile, const View& view);

}  // namespace vitrine::inspector
