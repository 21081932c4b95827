// A profile as lines of JSON, an op each, for many profiles of many devices together:
// docs/formats/profile_rows.md.
#pragma once

#include <map>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

inline constexpr int kProfileRowsVersion = 1;

// `labels` are members of every line, such as "device" and "commit". A label with the name of
// another member is left out.
std::string report_jsonl(const Profile& profile, const std::map<std::string, std::string>& labels);

}  // namespace vitrine::inspector
