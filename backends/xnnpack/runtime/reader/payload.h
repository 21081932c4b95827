// Opens the outer layers of a delegate's payload: the XH00 header and the flatbuffer inside it.
// Format: docs/formats/xnnpack_payload.md, "Framing".
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "schema/xnnpack_graph_generated.h"
#include "vitrine/budget.h"
#include "vitrine/data_source.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

struct Payload {
  const schema::xnnpack::XNNGraph* graph = nullptr;
  // The constants after the flatbuffer. Empty if the payload does not have a header; the constants
  // are then inside the flatbuffer.
  std::optional<std::span<const std::byte>> constant_region;
  DataBuffer aligned_copy;  // set if the flatbuffer was misaligned
};

// Verifies the header and the flatbuffer. The result points into `bytes`, or holds a copy of a
// misaligned flatbuffer. Takes one step from the budget `steps` for each table. Errors:
// DelegateInvalidCompatibility for a damaged flatbuffer or a wrong identifier; InvalidArgument for
// a damaged header, a payload that is too small, or a flatbuffer that is too large; OutOfResources
// if the budget is used up.
Result<Payload> open_payload(std::span<const std::byte> bytes, Budget& steps);

}  // namespace vitrine::xnnpack
