#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "demo_backend/format.h"
#include "vitrine/error.h"
#include "vitrine/memory_allocator.h"

namespace demo {

// Maximum total size of a delegate's results, in bytes.
inline constexpr int64_t kMaxResultBytes = int64_t{1} << 30;

struct Value {
  uint32_t rank = 0;
  std::array<int32_t, kMaxRank> items{};
  size_t elements = 0;
  float* data = nullptr;  // null if each execution provides the memory

  std::span<const int32_t> sizes() const { return {items.data(), rank}; }
};

// A height and a width.
using Pair = std::array<int32_t, 2>;

struct Convolution {
  Pair stride{}, padding{}, dilation{};
  int32_t groups = 1;
  std::array<int32_t, 4> weight_sizes{};  // out, in / groups, height, width
  std::span<const float> weight;
  std::span<const float> bias;  // may be empty
};

struct Operator {
  OperatorKind kind = OperatorKind::kSin;
  int32_t debug_id = 0;
  std::array<uint32_t, 2> inputs{};  // only kDiv uses the second index
  Convolution convolution;
};

// A checked payload. The result of operator i is value num_inputs + i. Every index is valid. The
// inputs of an operator precede its result. The sizes of inputs, weights and results match.
struct Graph {
  uint32_t num_inputs = 0;
  std::span<Value> values;
  std::span<uint32_t> outputs;
  std::span<Operator> operators;
};

// Reads and checks a payload (format.h). The graph's data is in `memory` and does not refer to the
// payload. Allocates memory for all results except outputs. Returns DelegateInvalidCompatibility,
// which names the invalid part of the payload, or MemoryAllocationFailed.
vitrine::Result<Graph> read_payload(std::span<const std::byte> payload,
                                    vitrine::MemoryAllocator& memory);

// Sets `items` to `count` new items. Returns MemoryAllocationFailed if memory runs out.
template <class T>
vitrine::Error allocate(vitrine::MemoryAllocator& memory, size_t count, std::span<T>& items) {
  items = memory.allocate_array<T>(count);
  if (items.size() == count) return vitrine::Error();
  return vitrine::Error::make(vitrine::ErrorCode::kMemoryAllocationFailed,
                              "no memory for %zu items of %zu bytes", count, sizeof(T));
}

}  // namespace demo
