#pragma once

#include "vitrine/backend.h"

namespace demo {

// Returns the run-time half of the demo backend, which is thread-safe and lives until the process
// ends. The backend accepts untrusted payloads. Delegates log each operator with its identifier,
// and with its name as metadata.
const vitrine::BackendInterface& backend();

}  // namespace demo
