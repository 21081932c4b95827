// The outer layers of a delegate's payload: the XH00 header and the verified flatbuffer inside.
// Format: docs/formats/xnnpack_blob.md, "Framing".
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "schema/xnnpack_graph_generated.h"
#include "vitrine/budget.h"
#include "vitrine/data_source.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

struct Blob {
  const schema::xnnpack::XNNGraph* graph = nullptr;
  // What follows the flatbuffer; nothing for a bare flatbuffer, whose constants are inside it.
  std::optional<std::span<const std::byte>> constant_region;
  DataBuffer aligned_copy;  // only if the flatbuffer stood at an odd address
};

// A view of `bytes` unless the flatbuffer is misaligned. DelegateInvalidCompatibility if the
// flatbuffer is of another kind or damaged, InvalidArgument if the header is. Each table takes a
// step; OutOfResources if there are too few.
Result<Blob> open_blob(std::span<const std::byte> bytes, Budget& steps);

}  // namespace vitrine::xnnpack
