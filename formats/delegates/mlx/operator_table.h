// Lists the operators of MLX payloads and the fields of each operator.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vitrine::delegates::mlx {

struct OperatorFormat {
  uint8_t number;  // in the union of operators
  std::string_view name;
  // Fields in the order of their slots, separated by ", ": name, type, then "?" for optional
  // operands, "=value" for a default other than 0, or "=null".
  //   T tensor   V value   I integer or value   F float or value   J value or tensor
  //   K integer, value or tensor   str   b   i8   i32   u32   u64   f32   [x] vector
  std::string_view fields;
};

// The operators, sorted by number.
std::span<const OperatorFormat> operator_formats();

}  // namespace vitrine::delegates::mlx
