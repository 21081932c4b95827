// The XNNPACK backend (CMake component `xnnpack`) runs the delegates of ExecuTorch's
// XnnpackPartitioner. docs/xnnpack.md lists the options.
#pragma once

#include "vitrine/backend.h"

namespace vitrine {

// For BackendRegistry::add(). The backend treats payloads as untrusted, is thread-safe, and exists
// as long as the process.
const BackendInterface& xnnpack_backend();

}  // namespace vitrine
