// Loads and executes an XNNPACK payload as a program would, within limits.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/named_data.h"

namespace vitrine::test {

enum class PayloadStage { kLoad, kExecute, kDone };

struct PayloadOutcome {
  PayloadStage stage = PayloadStage::kDone;  // the stage that failed
  std::string message;                       // the error; empty for kDone
};

// Limits of the memory that XNNPACK may allocate for a payload.
inline constexpr xnnpack::Limits kPayloadLimits = {.max_tensor_bytes = size_t{1} << 20,
                                                   .max_workspace_bytes = size_t{1} << 22};

// Loads the payload (16-byte aligned) and executes it with tensors that end at unreadable pages.
// The first two calls use the declared sizes. Most later calls use other sizes, for example a first
// dim of 1 or 0.
PayloadOutcome attempt_payload(std::span<const std::byte> payload, const NamedDataMap* named_data);

}  // namespace vitrine::test
