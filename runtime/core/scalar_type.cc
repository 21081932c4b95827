#include "vitrine/scalar_type.h"

namespace vitrine {
namespace {

// Names are stored inline, because pointers would need relocations.
struct TypeInfo {
  char name[11];
  uint8_t size;
};

constexpr TypeInfo kTypes[kNumScalarTypes] = {
    {"u8", 1},         {"i8", 1},         {"i16", 2},    {"i32", 4},     {"i64", 8},
    {"f16", 2},        {"f32", 4},        {"f64", 8},    {"c32", 4},     {"c64", 8},
    {"c128", 16},      {"bool", 1},       {"qi8", 1},    {"qu8", 1},     {"qi32", 4},
    {"bf16", 2},       {"qu4x2", 1},      {"qu2x4", 1},  {"bits1x8", 1}, {"bits2x4", 1},
    {"bits4x2", 1},    {"bits8", 1},      {"bits16", 2}, {"f8e5m2", 1},  {"f8e4m3fn", 1},
    {"f8e5m2fnuz", 1}, {"f8e4m3fnuz", 1}, {"u16", 2},    {"u32", 4},     {"u64", 8},
};

}  // namespace

size_t element_size(ScalarType type) {
  return is_valid(type) ? kTypes[static_cast<int8_t>(type)].size : 0;
}

const char* scalar_type_name(ScalarType type) {
  return is_valid(type) ? kTypes[static_cast<int8_t>(type)].name : "?";
}

}  // namespace vitrine
