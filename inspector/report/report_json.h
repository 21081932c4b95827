// A profile for programs: docs/formats/profile_json.md.
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

inline constexpr int kProfileJsonVersion = 2;

std::string report_json(const Profile& profile);

}  // namespace vitrine::inspector
