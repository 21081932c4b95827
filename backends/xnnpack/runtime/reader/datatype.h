// The datatypes of a payload's values: XNNPACK's name, size and quantization
// (docs/formats/xnnpack_payload.md).
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/xnnpack/runtime/reader/shape.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/scalar_type.h"

namespace vitrine::xnnpack {

enum class Quantization : uint8_t { kNone, kPerTensor, kPerChannel, kPerToken, kPerBlock };

struct Datatype {
  const char* name;
  xnn_datatype xnn;
  uint8_t bits;
  Quantization quantization;
  // Range of a per-tensor zero point. Other kinds of quantization always have min_zero_point.
  int32_t min_zero_point;
  int32_t max_zero_point;
  // The dtype of argument tensors. Empty if arguments cannot have this datatype.
  std::optional<ScalarType> argument;
};

// Returns null for unsupported datatypes, and for bf16 (see Value::is_bf16).
const Datatype* find_datatype(schema::xnnpack::XNNDatatype tag);

// Bytes of a dense tensor. Rows of 4-bit elements start at whole bytes. Empty on overflow.
std::optional<size_t> tensor_bytes(const Datatype& datatype, const Shape& shape);

}  // namespace vitrine::xnnpack
