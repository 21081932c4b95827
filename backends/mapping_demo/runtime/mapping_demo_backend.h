// The run-time half of the mapping demo: a small backend that shows how delegates tell which source
// operators they run. A template for others: docs/writing_a_backend.md
//
// Payload: docs/formats/mapping_demo_blob.md. Each operator is logged with its delegate debug
// identifier; the metadata is its name.
#pragma once

#include "vitrine/backend.h"

namespace vitrine {

// Thread-safe, lives as long as the process. Payloads are untrusted.
const BackendInterface& mapping_demo_backend();

}  // namespace vitrine
