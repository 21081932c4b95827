// Converts the origin of a value inside a delegate to text and back. The origin is the operator
// that computed the value, and the quantization parameters of a quantized value. The text names the
// value's debug event (docs/formats/etdump.md, "Extensions"). Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vitrine/scalar_type.h"

namespace vitrine::etdump {

// The quantization parameters of a stored tensor. The dump has the dequantized values.
struct StoredAs {
  ScalarType dtype = ScalarType::kChar;  // kChar or kByte
  size_t rows = 1;                       // number of parts of the tensor with parameters of their
                                         // own
  float scale = 0;                       // scale of the first part
  int32_t zero_point = 0;
};

struct ValueOrigin {
  size_t op = 0;      // position among the operators that the call logs
  size_t result = 0;  // index among the operator's results
  std::optional<StoredAs> stored_as;
};

// Returns a text such as "operator 12 result 0" or "operator 12 result 0 int8 scale 0.025
// zero_point -3 rows 1".
std::string format_origin(const ValueOrigin& origin);
// Returns nullopt for a text that format_origin() did not write.
std::optional<ValueOrigin> parse_origin(std::string_view text);

}  // namespace vitrine::etdump
