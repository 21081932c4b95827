// Values in an ETDump's debug events, and the tensor data that they refer to. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "vitrine/scalar_type.h"

namespace vitrine::etdump {

// Strides count elements. Sizes and strides have the same length, at most kMaxRank; none is
// negative.
struct DebugTensor {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = -1;  // into the debug buffer; -1 if there are no elements
  // Bytes from the tensor's first element in memory to its last. Empty before attach_debug_data();
  // then it points into EtDump::debug_data.
  std::span<const std::byte> data = {};
};

// The alternatives, in order: no value, Int, Bool, Float, Double, Tensor, TensorList.
using DebugValue = std::variant<std::monostate, int64_t, bool, float, double, DebugTensor,
                                std::vector<DebugTensor>>;

// Returns the elements in row-major order. `tensor` must have its data.
std::vector<std::byte> row_major_bytes(const DebugTensor& tensor);

}  // namespace vitrine::etdump
