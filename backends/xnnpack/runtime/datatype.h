// The datatypes of a blob's values, one row each: what XNNPACK calls them, how large they are, and
// how they are quantised (docs/formats/xnnpack_blob.md).
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/xnnpack/runtime/shape.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/scalar_type.h"

namespace vitrine::xnnpack {

enum class Quantization : uint8_t { kNone, kPerTensor, kPerChannel, kPerToken, kPerBlock };

struct Datatype {
  const char* name;
  xnn_datatype xnn;
  uint8_t bits;
  Quantization quantization;
  // What a per-tensor zero point may be; for the other kinds the one that it is.
  int32_t min_zero_point;
  int32_t max_zero_point;
  // The dtype of a delegate argument of this datatype; none if it cannot be one.
  std::optional<ScalarType> argument;
};

// Null for `invalid`, unknown ones, and those that no operator of this XNNPACK takes from a blob.
const Datatype* find_datatype(schema::xnnpack::XNNDatatype tag);

// Bytes of a dense tensor: rows of 4-bit elements start at whole bytes. Nothing on overflow.
std::optional<size_t> tensor_bytes(const Datatype& datatype, const Shape& shape);

}  // namespace vitrine::xnnpack
