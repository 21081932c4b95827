// The values in the debug events of an ETDump, and their tensor data. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "vitrine/scalar_type.h"

namespace vitrine::etdump {

// A logged tensor. Strides count elements. Sizes and strides have the same length, at most
// kMaxRank, and are not negative.
struct DebugTensor {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = -1;  // offset in the debug buffer; -1 without elements
  // The bytes from the first element in memory to the last. They are in EtDump::debug_data. Empty
  // until attach_debug_data() is called.
  std::span<const std::byte> data = {};
};

// A logged value: no value, Int, Bool, Float, Double, Tensor or TensorList, in this order.
using DebugValue = std::variant<std::monostate, int64_t, bool, float, double, DebugTensor,
                                std::vector<DebugTensor>>;

// Returns the elements in row-major order. The tensor's data must be attached.
std::vector<std::byte> row_major_bytes(const DebugTensor& tensor);

}  // namespace vitrine::etdump
