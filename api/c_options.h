#pragma once

#include "runtime/core/checked_vector.h"
#include "vitrine.h"
#include "vitrine/backend.h"

namespace vitrine {

// Returns a copy of the options, or the defaults if `options` is null. Members that the caller's
// version of vitrine.h lacks get their defaults.
Result<vitrine_options> known_options(const vitrine_options* options);
// Returns the backend options. Their strings belong to the caller.
Result<CheckedVector<BackendOption>> backend_options(const vitrine_options& options);

}  // namespace vitrine
