// Texts about the origin of a run, for the beginning of a report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Returns lines "warning: ..." for the top of a report. `label` ("A: ") precedes the text of each
// warning.
std::string warning_lines(std::string_view label, const RunInfo& run, size_t width);

// Returns lines with the known facts: values of the inputs, tool, date, machine, and digest of the
// model. Without `has_digest`, leaves out the digest.
std::string origin_lines(const RunInfo& run, bool has_digest, size_t width);

// Returns a JSON object with the facts about a run. Unknown facts are null.
nlohmann::ordered_json origin_json(const RunInfo& run);

}  // namespace vitrine::inspector
