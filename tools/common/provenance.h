// Facts about a run in every report: version, date, machine, model, inputs.
#pragma once

#include <filesystem>
#include <string>

#include "inspector/join/profile.h"
#include "tools/common/cpu_use.h"

namespace vitrine::tools {

// Returns "vitrine 0.1.0 (commit 0123456789ab)", or "vitrine 0.1.0" if the commit is unknown.
std::string tool_version();

// Returns three lines: the version, the commit with its date, and the commit of XNNPACK.
std::string version_text();

// Sets the tool, the date, the machine, the model digest and the origin of input values. Only a
// regular file has a digest. Throws ToolError if the file cannot be read.
void add_provenance(inspector::RunInfo& run, const std::filesystem::path& model,
                    const std::string& input_values);

// Adds a warning if the process got too little processor time. Precondition: run.threads is set.
void add_cpu_shortage(inspector::RunInfo& run, const CpuUse& use);

}  // namespace vitrine::tools
