// The document of report_json.h before it is text, for reports that carry it within themselves.
#pragma once

#include <nlohmann/json.hpp>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Names are as the files have them, and may not be UTF-8: dump with replacement.
nlohmann::ordered_json profile_json(const Profile& profile);

}  // namespace vitrine::inspector
