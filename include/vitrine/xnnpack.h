// The XNNPACK backend: runs the delegates that ExecuTorch's XnnpackPartitioner makes. Component
// `xnnpack`. Its options are in docs/xnnpack.md.
#pragma once

#include "vitrine/backend.h"

namespace vitrine {

// For BackendRegistry::add(). Payloads are untrusted. Thread-safe; lives as long as the process.
const BackendInterface& xnnpack_backend();

}  // namespace vitrine
