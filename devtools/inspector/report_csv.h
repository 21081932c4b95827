// A profile for spreadsheets: one line a row, header first, RFC 4180.
#pragma once

#include <string>

#include "devtools/inspector/profile.h"

namespace vitrine::inspector {

// Lists within a cell are joined with ';'. The last line is `unattributed`. Times in ns.
std::string report_csv(const Profile& profile);

}  // namespace vitrine::inspector
