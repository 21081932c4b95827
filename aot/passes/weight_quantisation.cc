// Compiled without contraction: a fused multiply-add rounds once where torchao rounds twice.
#include "aot/passes/weight_quantisation.h"

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

// ---- Sums in PyTorch's order

// Adds rows of kWidth values up, in levels: a level takes a sum of many rows from the one below it,
// so that long sums lose little.
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

// In vectors of kLanes, four at a time.
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

// ---- A group

// To the nearest integer, halves to the even one, for |x| < 2^22. Compilers make vectors of it.
float nearest(float x) {
  constexpr float kNoFraction = 0x1.8p23F;
  return (x + kNoFraction) - kNoFraction;
}

struct Range {
  float least = 0;
  float greatest = 0;
};

float within(float x, Range range) {
  x = x < range.least ? range.least : x;
  return x > range.greatest ? range.greatest : x;
}

float greatest_magnitude(std::span<const float> values) {
  float greatest = 0;
  for (const float value : values) greatest = std::max(greatest, std::abs(value));
  return greatest;
}

// Half-quadratic quantisation, of which torchao keeps the scale's part.
class Hqq {
 public:
  Hqq(Range range, size_t group) : range_(range), products_(group), squares_(group) {}

  float scale_of(std::span<const float> values, std::span<float> quantised) {
    float scale = std::max(greatest_magnitude(values) / -range_.least, kEpsilon);
    for (int step = 0; step < kHqqSteps; ++step) {
      quantise(values, scale, quantised);
      const float better = best_scale(values, quantised);
      if (better == scale) return scale;  // and so on
      scale = better;
    }
    quantise(values, scale, quantised);
    return scale;
  }

 private:
  void quantise(std::span<const float> values, float scale, std::span<float> quantised) const {
    for (size_t i = 0; i < values.size(); ++i) {
      quantised[i] = nearest(within(values[i] / scale, range_));
    }
  }

  float best_scale(std::span<const float> values, std::span<const float> quantised) {
    for (size_t i = 0; i < values.size(); ++i) products_[i] = values[i] * quantised[i];
    for (size_t i = 0; i < values.size(); ++i) squares_[i] = quantised[i] * quantised[i];
    return std::max(torch_sum(products_) / std::max(torch_sum(squares_), kEpsilon), kEpsilon);
  }

  Range range_;
  std::vector<float> products_;
  std::vector<float> squares_;
};

// Every operation is rounded to the weight's dtype, as PyTorch does.
template <class T>
float affine_scale(std::span<const float> values, Range range, std::span<float> quantised) {
  const auto rounded = [](float x) { return static_cast<float>(static_cast<T>(x)); };
  const float epsilon = std::is_same_v<T, Half>       ? 0x1p-10F
                        : std::is_same_v<T, BFloat16> ? 0x1p-7F
                                                      : kEpsilon;
  const float steps = (range.greatest - range.least) / 2;
  const float scale = std::max(rounded(greatest_magnitude(values) / steps), epsilon);
  const float factor = rounded(1 / scale);
  for (size_t i = 0; i < values.size(); ++i) {
    quantised[i] = nearest(within(rounded(values[i] * factor), range));
  }
  return scale;
}

// ---- A weight

std::vector<std::byte> bytes_of(const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <class T>
QuantisedWeight quantise(const TensorData& weight, size_t group, const WeightScheme& scheme) {
  const std::vector<std::byte> bytes = row_major_bytes(weight);
  const float half = static_cast<float>(1 << (scheme.bits - 1));
  const Range range = {-half, half - 1};
  std::vector<int8_t> values(static_cast<size_t>(weight.numel()));
  std::vector<T> scales(values.size() / group);
  std::vector<float> floats(group);
  std::vector<float> quantised(group);
  Hqq hqq(range, group);
  for (size_t at = 0; at < scales.size(); ++at) {
    for (size_t i = 0; i < group; ++i) {
      T value;
      std::memcpy(&value, &bytes[(at * group + i) * sizeof(T)], sizeof(T));
      floats[i] = static_cast<float>(value);
      if (!std::isfinite(floats[i])) throw AotError("it has values that are not finite");
    }
    scales[at] = static_cast<T>(scheme.scale_rule == ScaleRule::kHqq
                                    ? hqq.scale_of(floats, quantised)
                                    : affine_scale<T>(floats, range, quantised));
    for (size_t i = 0; i < group; ++i) {
      values[at * group + i] = static_cast<int8_t>(quantised[i]);
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

QuantisedWeight quantise_weight(const TensorData& weight, const WeightScheme& scheme) {
  if (weight.sizes.size() != 2 || weight.numel() == 0) throw AotError("it is not a matrix");
  const int64_t columns = weight.sizes[1];
  const int64_t group = scheme.group == 0 ? columns : scheme.group;
  if (group <= 0 || columns % group != 0) {
    throw AotError(fmt::format("its rows of {} are not a multiple of {}", columns, group));
  }
  const auto group_size = static_cast<size_t>(group);
  switch (weight.dtype) {
    case ScalarType::kFloat:
      return quantise<float>(weight, group_size, scheme);
    case ScalarType::kHalf:
      return quantise<Half>(weight, group_size, scheme);
    case ScalarType::kBFloat16:
      return quantise<BFloat16>(weight, group_size, scheme);
    default:
      throw AotError(fmt::format("it is {}, not f32, f16 or bf16", scalar_type_name(weight.dtype)));
  }
}

TensorData pack_rows(const TensorData& values, int bits) {
  const int64_t in_byte = 8 / bits;
  const int64_t columns = values.sizes.at(1);
  if (columns % in_byte != 0) {
    throw AotError(
        fmt::format("its rows of {} values of {} bits do not fill bytes", columns, bits));
  }
  const std::vector<std::byte> unpacked = row_major_bytes(values);
  std::vector<std::byte> packed(unpacked.size() / static_cast<size_t>(in_byte));
  const int offset = 1 << (bits - 1);
  for (size_t i = 0; i < unpacked.size(); ++i) {
    const int place = static_cast<int>(i % static_cast<size_t>(in_byte));
    const int shift = bits * (bits == 4 ? 1 - place : place);
    const int value = static_cast<int8_t>(unpacked[i]) + offset;
    packed[i / static_cast<size_t>(in_byte)] |= static_cast<std::byte>(value << shift);
  }
  return make_tensor_data(ScalarType::kByte, {values.sizes[0], columns / in_byte},
                          std::move(packed));
}

}  // namespace vitrine::aot
