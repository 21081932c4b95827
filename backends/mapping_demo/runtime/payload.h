// The payload of a mapping-demo delegate, checked. Format: docs/formats/mapping_demo_blob.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/mapping_demo/format/operators.h"
#include "vitrine/error.h"
#include "vitrine/memory_allocator.h"
#include "vitrine/tensor.h"

namespace vitrine::mapping_demo {

// Limit of the bytes that a payload may allocate for results.
inline constexpr int64_t kMaxResultBytes = int64_t{1} << 30;

struct Sizes {
  size_t rank = 0;
  std::array<int32_t, kMaxRank> items{};

  int32_t operator[](size_t dim) const { return items[dim]; }
  std::span<const int32_t> used() const { return {items.data(), rank}; }
};

// Height and width.
using Pair = std::array<int32_t, 2>;

struct Convolution {
  Pair stride{}, padding{}, dilation{};
  int32_t groups = 1;
  std::array<int32_t, 4> weight_sizes{};  // out, in / groups, height, width
  std::span<const float> weight;
  std::span<const float> bias;  // empty: none
};

struct Operator {
  OperatorKind kind = OperatorKind::kSin;
  std::string_view name;
  int32_t debug_id = 0;
  uint32_t result = 0;
  std::array<uint32_t, 2> inputs{};  // kDiv: both
  Convolution convolution;           // of kConvRelu
};

// Every index is valid, results are computed before they are read, and all sizes fit together.
struct Plan {
  std::span<Sizes> values;  // inputs first
  uint32_t num_inputs = 0;
  std::span<uint32_t> outputs;
  std::span<Operator> operators;
};

// The plan lies in `memory`; the payload may be gone afterwards. DelegateInvalidCompatibility, with
// the place; MemoryAllocationFailed.
Result<Plan> read_payload(std::span<const std::byte> payload, MemoryAllocator& memory);

// Fewer items than `count`: MemoryAllocationFailed.
template <class T>
Error allocate(MemoryAllocator& memory, size_t count, std::span<T>* items) {
  *items = memory.allocate_array<T>(count);
  if (items->size() == count) return Error();
  return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %zu items of %zu bytes",
                     count, sizeof(T));
}

// Elements of a value of a plan.
size_t numel(const Sizes& sizes);

}  // namespace vitrine::mapping_demo
