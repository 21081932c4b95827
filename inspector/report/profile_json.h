#pragma once

#include <nlohmann/json.hpp>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Returns the JSON value that report_json() writes. Names come from files and may contain invalid
// UTF-8, so dump the value with error_handler_t::replace.
nlohmann::ordered_json profile_json(const Profile& profile);

}  // namespace vitrine::inspector
