#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vitrine::delegates::mlx {

struct OperatorFormat {
  uint8_t number;  // number in the union of operators
  std::string_view name;
  // Fields in the order of their slots, separated by ", ". A field is a name and a type,
  // followed by "?" if the operand is optional, "=value" if the default is not 0, or "=null" if the
  // default is null. Types:
  //   T tensor   V value   I integer or value   F float or value   J value or tensor
  //   K integer, value or tensor   str   b bool   i8   i32   u32   u64   f32   [x] vector of x
  std::string_view fields;
};

// The operators of MLX payloads, sorted by number.
std::span<const OperatorFormat> operator_formats();

}  // namespace vitrine::delegates::mlx
