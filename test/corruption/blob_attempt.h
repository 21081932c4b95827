// Does with an XNNPACK payload all that a program would do, within bounds.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/named_data.h"

namespace vitrine::test {

enum class BlobStage { kLoad, kExecute, kDone };

struct BlobOutcome {
  BlobStage stage = BlobStage::kDone;  // where it failed
  std::string message;                 // of the error; empty for kDone
};

// What a payload may make XNNPACK allocate here.
inline constexpr xnnpack::Limits kBlobLimits = {.max_tensor_bytes = size_t{1} << 20,
                                                .max_workspace_bytes = size_t{1} << 22};

// Loads it and executes it twice with tensors of the declared sizes, which end at unreadable pages,
// once more with a first dimension of 1, and once with one of 0. `blob` is 16-byte aligned.
BlobOutcome attempt_blob(std::span<const std::byte> blob, const NamedDataMap* named_data);

}  // namespace vitrine::test
