#include "examples/models/seeded_weights.h"

#include <fmt/format.h>

#include <cstring>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

// The hash function FNV-1a.
uint64_t hash(std::string_view text, uint64_t seed) {
  uint64_t value = 0xcbf29ce484222325u ^ seed;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

// SplitMix64's output function.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

size_t checked_count(std::string_view name, const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > INT64_C(1) << 32) {
      throw AotError(fmt::format(
          "weight {}: a size is negative, or the weight has more than 2^32 elements", name));
    }
  }
  return static_cast<size_t>(count);
}

}  // namespace

TensorData seeded_weights(std::string_view name, uint64_t seed, std::vector<int64_t> sizes,
                          float spread, float center) {
  const size_t count = checked_count(name, sizes);
  const uint64_t start = hash(name, seed);
  std::vector<std::byte> bytes(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    // f32 represents every 24-bit integer exactly.
    const auto bits = static_cast<int32_t>(mixed(start + i) >> 40);
    const float value = center + spread * (static_cast<float>(bits) / 8388608.0f - 1.0f);
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return make_tensor_data(ScalarType::kFloat, std::move(sizes), std::move(bytes));
}

TensorData seeded_bytes(std::string_view name, uint64_t seed, std::vector<int64_t> sizes) {
  const size_t count = checked_count(name, sizes);
  const uint64_t start = hash(name, seed);
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<int8_t>(static_cast<int>(mixed(start + i) % 255) - 127);
    bytes[i] = static_cast<std::byte>(value);
  }
  return make_tensor_data(ScalarType::kChar, std::move(sizes), std::move(bytes));
}

}  // namespace vitrine::aot
