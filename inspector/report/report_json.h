// Writes a profile as JSON (docs/formats/profile_json.md).
#pragma once

#include <string>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

inline constexpr int kProfileJsonVersion = 3;

std::string report_json(const Profile& profile);

}  // namespace vitrine::inspector
