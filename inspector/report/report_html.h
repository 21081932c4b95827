// A profile as one page for a browser: no network, no other files, works from a file: path.
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// The page carries the document of report_json.h and the timeline of the run that took about the
// median time. Names are shown as text whatever they contain.
std::string report_html(const Profile& profile);

}  // namespace vitrine::inspector
