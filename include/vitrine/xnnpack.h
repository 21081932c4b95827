// The XNNPACK backend (CMake component `xnnpack`) runs the delegates that ExecuTorch's
// XnnpackPartitioner makes. docs/xnnpack.md lists the options of the backend.
#pragma once

#include "vitrine/backend.h"

namespace vitrine {

// Returns the backend for BackendRegistry::add(). Treats payloads as untrusted. The backend is
// thread-safe and exists as long as the process.
const BackendInterface& xnnpack_backend();

}  // namespace vitrine
