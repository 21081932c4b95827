// Checks the options of the C API.
#pragma once

#include "runtime/core/checked_vector.h"
#include "vitrine.h"
#include "vitrine/backend.h"

namespace vitrine {

// Returns a copy of the options. Members that the caller's version of vitrine.h lacks get their
// defaults. If `options` is null, returns the defaults.
Result<vitrine_options> known_options(const vitrine_options* options);
// Returns the backend options. Their strings are those of the caller, not copies.
Result<CheckedVector<BackendOption>> backend_options(const vitrine_options& options);

}  // namespace vitrine
