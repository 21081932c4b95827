// Writes a profile as lines of JSON, one per op, to collect many profiles of many devices
// (docs/formats/profile_rows.md).
#pragma once

#include <map>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

inline constexpr int kProfileRowsVersion = 1;

// Adds `labels`, such as "device" and "commit", to every line. Ignores a label if the line already
// has a member of that name.
std::string report_jsonl(const Profile& profile, const std::map<std::string, std::string>& labels);

}  // namespace vitrine::inspector
