// The payload of a mapping-demo delegate, checked. Format: docs/formats/mapping_demo_blob.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/mapping_demo/format/operators.h"
#include "vitrine/error.h"

namespace vitrine::mapping_demo {

// Limit of the bytes that a payload may allocate for results.
inline constexpr int64_t kMaxResultBytes = int64_t{1} << 30;

using Sizes = std::vector<int32_t>;

// Height and width.
using Pair = std::array<int32_t, 2>;

struct Convolution {
  Pair stride{}, padding{}, dilation{};
  int32_t groups = 1;
  std::array<int32_t, 4> weight_sizes{};  // out, in / groups, height, width
  std::vector<float> weight;
  std::vector<float> bias;  // empty: none
};

struct Operator {
  OperatorKind kind = OperatorKind::kSin;
  std::string name;
  int32_t debug_id = 0;
  uint32_t result = 0;
  std::array<uint32_t, 2> inputs{};  // kDiv: both
  Convolution convolution;           // of kConvRelu
};

// Every index is valid, results are computed before they are read, and all sizes fit together.
struct Plan {
  std::vector<Sizes> values;  // inputs first
  uint32_t num_inputs = 0;
  std::vector<uint32_t> outputs;
  std::vector<Operator> operators;
};

// DelegateInvalidCompatibility, with the place; the bytes may be gone afterwards.
Result<Plan> read_payload(std::span<const std::byte> payload);

// Elements of a value of a plan.
size_t numel(const Sizes& sizes);

}  // namespace vitrine::mapping_demo
