// Draws a profile as an SVG image, for documents.
#pragma once

#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

// Draws a bar for each row or group of the view, with its name, time and share.
std::string report_svg(const Profile& profile, const View& view);

}  // namespace vitrine::inspector
