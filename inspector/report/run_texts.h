#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Returns lines "warning: ..." for the top of a report. `label` ("A: ") precedes the text of each
// warning.
std::string warning_lines(std::string_view label, const RunInfo& run, size_t width);

// Returns lines with the known facts: values of the inputs, tool, date, machine, and digest of the
// model (if `has_digest`).
std::string origin_lines(const RunInfo& run, bool has_digest, size_t width);

// Returns a JSON object with the facts about a run. Unknown facts are null.
nlohmann::ordered_json origin_json(const RunInfo& run);

// Describes the cost of tracing: "tracing +14.0 % (clock 6.2 %)", or "tracing below noise".
// Precondition: run.trace_overhead is set.
std::string tracing_text(const RunInfo& run);

// Returns the parts of the time until the first result, in ns: opening and verifying the program,
// preparing the method, packing the weights of delegates, planning the memory of delegates, and the
// first run. Empty if the profile does not contain these times.
std::vector<std::pair<const char*, double>> first_result_parts(const Profile& profile);

}  // namespace vitrine::inspector
