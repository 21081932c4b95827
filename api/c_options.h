// Checks the options of the C API.
#pragma once

#include "runtime/core/checked_vector.h"
#include "vitrine.h"
#include "vitrine/backend.h"

namespace vitrine {

// Returns a complete struct, although callers compiled with an earlier version pass fewer members.
// Returns the defaults for null.
Result<vitrine_options> known_options(const vitrine_options* options);
// Returns the backend options, which refer to the texts of the caller.
Result<CheckedVector<BackendOption>> backend_options(const vitrine_options& options);

}  // namespace vitrine
