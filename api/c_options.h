// The options of the API for C, checked.
#pragma once

#include "runtime/core/checked_vector.h"
#include "vitrine.h"
#include "vitrine/backend.h"

namespace vitrine {

// Callers of an earlier version know fewer members. Null gives the defaults.
Result<vitrine_options> known_options(const vitrine_options* options);
// Views of the caller's texts.
Result<CheckedVector<BackendOption>> backend_options(const vitrine_options& options);

}  // namespace vitrine
