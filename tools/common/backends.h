// Lists the backends of this build, and backends that main() adds.
#pragma once

#include <string>

#include "vitrine/backend.h"

namespace vitrine::tools {

// Loads a shared library of operators and backends (vitrine/extension.h). Throws ToolError.
void load_extension(const std::string& path);

// Adds a backend, which must live until the process ends. Not thread-safe.
void add_backend(const BackendInterface& backend);

// Returns the backends of this build and of add_backend(). The reference stays valid until the
// process ends.
const BackendRegistry& all_backends();

}  // namespace vitrine::tools
