#pragma once

#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

// Draws an SVG image for documents: a bar for each row or group of the view, with its name, time
// and share.
std::string report_svg(const Profile& profile, const View& view);

}  // namespace vitrine::inspector
