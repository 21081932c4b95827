// This file is compiled with -ffp-contract=off, because torchao rounds each product and each sum.
#include "aot/passes/weight_quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "aot/graph/aot_error.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
constexpr int kHqqSteps = 20;

// Adds up rows of kWidth values. Each level adds up sums of the level below, for precision.
template <size_t kWidth>
std::array<float, kWidth> sum_of_rows(const float* values, size_t rows) {
  using Sums = std::array<float, kWidth>;
  constexpr size_t kLevels = 4;
  const auto add = [](Sums& to, const float* from) {
    for (size_t i = 0; i < kWidth; ++i) to[i] += from[i];
  };
  const size_t bits_of_rows = rows <= 2 ? 1 : static_cast<size_t>(std::bit_width(rows - 1));
  const size_t bits = std::max<size_t>(4, bits_of_rows / kLevels);
  const size_t step = size_t{1} << bits;
  std::array<Sums, kLevels> levels{};
  size_t row = 0;
  while (rows - row >= step) {
    for (size_t i = 0; i < step; ++i) add(levels[0], values + kWidth * row++);
    for (size_t level = 1; level < kLevels; ++level) {
      add(levels[level], levels[level - 1].data());
      levels[level - 1] = {};
      if ((row & ((step - 1) << (level * bits))) != 0) break;
    }
  }
  for (; row < rows; ++row) add(levels[0], values + kWidth * row);
  for (size_t level = 1; level < kLevels; ++level) add(levels[0], levels[level].data());
  return levels[0];
}

// Adds up the values like a loop that reads four vectors of kLanes values in each step.
template <size_t kLanes>
float sum_by_vectors(std::span<const float> values) {
  constexpr size_t kAtOnce = 4;
  const size_t vectors = values.size() / kLanes;
  const size_t rows = vectors / kAtOnce;
  auto sums = sum_of_rows<kLanes * kAtOnce>(values.data(), rows);
  for (size_t i = rows * kAtOnce * kLanes; i < vectors * kLanes; ++i) sums[i % kLanes] += values[i];
  for (size_t i = kLanes; i < sums.size(); ++i) sums[i % kLanes] += sums[i];
  float sum = 0;
  for (size_t i = vectors * kLanes; i < values.size(); ++i) sum += values[i];
  for (size_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  return sum;
}

// Rounds to the nearest integer, with ties to even. Precondition: |x| < 2^22. Vectorizable.
float nearest(float x) {
  constexpr float kNoFraction = 0x1.8p23F;
  return (x + kNoFraction) - kNoFraction;
}

struct QuantRange {
  float min = 0;
  float max = 0;
};

float clamped_to(float x, QuantRange range) {
  x = x < range.min ? range.min : x;
  return x > range.max ? range.max : x;
}

float max_magnitude(std::span<const float> values) {
  float max = 0;
  for (const float value : values) max = std::max(max, std::abs(value));
  return max;
}

// The search for a scale in half-quadratic quantization (HQQ). torchao uses only this part of HQQ.
class Hqq {
 public:
  Hqq(QuantRange range, size_t group) : range_(range), products_(group), squares_(group) {}

  // Returns the scale of a group and sets `quantized` to the quantized values of the group.
  float scale_of(std::span<const float> values, std::span<float> quantized) {
    float scale = std::max(max_magnitude(values) / -range_.min, kEpsilon);
    for (int step = 0; step < kHqqSteps; ++step) {
      quantize(values, scale, quantized);
      const float better = best_scale(values, quantized);
      if (better == scale) return scale;  // later steps would not change it
      scale = better;
    }
    quantize(values, scale, quantized);
    return scale;
  }

 private:
  void quantize(std::span<const float> values, float scale, std::span<float> quantized) const {
    for (size_t i = 0; i < values.size(); ++i) {
      quantized[i] = nearest(clamped_to(values[i] / scale, range_));
    }
  }

  float best_scale(std::span<const float> values, std::span<const float> quantized) {
    for (size_t i = 0; i < values.size(); ++i) products_[i] = values[i] * quantized[i];
    for (size_t i = 0; i < values.size(); ++i) squares_[i] = quantized[i] * quantized[i];
    return std::max(torch_sum(products_) / std::max(torch_sum(squares_), kEpsilon), kEpsilon);
  }

  QuantRange range_;
  std::vector<float> products_;
  std::vector<float> squares_;
};

// Rounds the result of every operation to the weight's dtype, like PyTorch.
template <class T>
float affine_scale(std::span<const float> values, QuantRange range, std::span<float> quantized) {
  const auto rounded = [](float x) { return static_cast<float>(static_cast<T>(x)); };
  const float epsilon = std::is_same_v<T, Half>       ? 0x1p-10F
                        : std::is_same_v<T, BFloat16> ? 0x1p-7F
                                                      : kEpsilon;
  const float steps = (range.max - range.min) / 2;
  const float scale = std::max(rounded(max_magnitude(values) / steps), epsilon);
  const float factor = rounded(1 / scale);
  for (size_t i = 0; i < values.size(); ++i) {
    quantized[i] = nearest(clamped_to(rounded(values[i] * factor), range));
  }
  return scale;
}

std::vector<std::byte> bytes_of(const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <class T>
QuantizedWeight quantize(const TensorData& weight, size_t group, const WeightScheme& scheme) {
  const std::vector<std::byte> bytes = row_major_bytes(weight);
  const float half = static_cast<float>(1 << (scheme.bits - 1));
  const QuantRange range = {-half, half - 1};
  std::vector<int8_t> values(static_cast<size_t>(weight.numel()));
  std::vector<T> scales(values.size() / group);
  std::vector<float> floats(group);
  std::vector<float> quantized(group);
  Hqq hqq(range, group);
  for (size_t at = 0; at < scales.size(); ++at) {
    for (size_t i = 0; i < group; ++i) {
      T value;
      std::memcpy(&value, &bytes[(at * group + i) * sizeof(T)], sizeof(T));
      floats[i] = static_cast<float>(value);
      if (!std::isfinite(floats[i])) throw AotError("the weight contains NaN or infinity");
    }
    scales[at] = static_cast<T>(scheme.scale_rule == ScaleRule::kHqq
                                    ? hqq.scale_of(floats, quantized)
                                    : affine_scale<T>(floats, range, quantized));
    for (size_t i = 0; i < group; ++i) {
      values[at * group + i] = static_cast<int8_t>(quantized[i]);
    }
  }
  const int64_t rows = weight.sizes[0];
  const int64_t groups = weight.sizes[1] / static_cast<int64_t>(group);
  return {make_tensor_data(ScalarType::kChar, weight.sizes, bytes_of(values)),
          make_tensor_data(weight.dtype, {rows, groups}, bytes_of(scales))};
}

}  // namespace

float torch_sum(std::span<const float> values) {
  constexpr size_t kLanes = 8;
  return values.size() < kLanes ? sum_by_vectors<1>(values) : sum_by_vectors<kLanes>(values);
}

QuantizedWeight quantize_weight(const TensorData& weight, const WeightScheme& scheme) {
  if (weight.sizes.size() != 2 || weight.numel() == 0)
    throw AotError("the weight must be a non-empty matrix");
  const int64_t columns = weight.sizes[1];
  const int64_t group = scheme.group == 0 ? columns : scheme.group;
  if (group <= 0 || columns % group != 0) {
    throw AotError(
        fmt::format("the row length {} is not a multiple of the group size {}", columns, group));
  }
  const auto group_size = static_cast<size_t>(group);
  switch (weight.dtype) {
    case ScalarType::kFloat:
      return quantize<float>(weight, group_size, scheme);
    case ScalarType::kHalf:
      return quantize<Half>(weight, group_size, scheme);
    case ScalarType::kBFloat16:
      return quantize<BFloat16>(weight, group_size, scheme);
    default:
      throw AotError(fmt::format("the weight is {}, but must be f32, f16 or bf16",
                                 scalar_type_name(weight.dtype)));
  }
}

TensorData pack_rows(const TensorData& values, int bits) {
  const int64_t values_per_byte = 8 / bits;
  const int64_t columns = values.sizes.at(1);
  if (columns % values_per_byte != 0) {
    throw AotError(
        fmt::format("the row length {} is not a multiple of {}, so rows of {}-bit values "
                    "do not fill whole bytes",
                    columns, values_per_byte, bits));
  }
  const std::vector<std::byte> unpacked = row_major_bytes(values);
  std::vector<std::byte> packed(unpacked.size() / static_cast<size_t>(values_per_byte));
  const int offset = 1 << (bits - 1);
  for (size_t i = 0; i < unpacked.size(); ++i) {
    const int index = static_cast<int>(i % static_cast<size_t>(values_per_byte));
    const int shift = bits * (bits == 4 ? 1 - index : index);
    const int value = static_cast<int8_t>(unpacked[i]) + offset;
    packed[i / static_cast<size_t>(values_per_byte)] |= static_cast<std::byte>(value << shift);
  }
  return make_tensor_data(ScalarType::kByte, {values.sizes[0], columns / values_per_byte},
                          std::move(packed));
}

}  // namespace vitrine::aot
