#pragma once

#include <filesystem>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// True for a stored profile (JSON) or a trace (ETDump). Throws ToolError if the file cannot be
// read.
bool is_stored_profile(const std::filesystem::path& file);

// Reads a stored profile or a trace. `etrecord` is the path of the trace's ETRecord, or empty.
// Throws HostError.
inspector::Profile read_stored_profile(const std::filesystem::path& file,
                                       const std::filesystem::path& etrecord,
                                       const std::string& method);

}  // namespace vitrine::tools
