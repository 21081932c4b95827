#include "backends/xnnpack/aot/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "aot/graph/aot_error.h"
#include "vitrine/half.h"

namespace vitrine::aot::xnnpack {
namespace {

template <class T>
std::vector<float> widened(const Bytes& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T item;
    std::memcpy(&item, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<float>(item);
  }
  return numbers;
}

template <class T>
Bytes rounded(const std::vector<float>& numbers) {
  Bytes bytes(numbers.size() * sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T item(numbers[i]);
    std::memcpy(&bytes[i * sizeof item], &item, sizeof item);
  }
  return bytes;
}

}  // namespace

Bytes permuted(const Bytes& bytes, size_t width, const std::vector<uint32_t>& dims,
               std::span<const uint32_t> perm) {
  const size_t rank = dims.size();
  std::vector<size_t> strides(rank);
  size_t stride = width;
  for (size_t i = rank; i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  Bytes result(bytes.size());
  std::vector<uint32_t> index(rank);
  for (size_t at = 0; at < result.size(); at += width) {
    size_t from = 0;
    for (size_t i = 0; i < rank; ++i) from += index[i] * strides[perm[i]];
    std::memcpy(&result[at], &bytes[from], width);
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < dims[perm[i]]) break;
      index[i] = 0;
    }
  }
  return result;
}

ArrangedFilter arranged_filter(const Bytes& bytes, size_t width, const FilterShape& shape) {
  const std::vector<uint32_t>& d = shape.dims;
  ArrangedFilter filter;
  if (shape.is_depthwise()) {
    constexpr std::array<uint32_t, 4> kOutLast = {1, 2, 3, 0};
    filter.bytes = permuted(bytes, width, d, kOutLast);
    filter.dims = {1, d[2], d[3], d[0]};
    filter.channel_dim = 3;
    return filter;
  }
  if (!shape.is_transposed) {
    constexpr std::array<uint32_t, 4> kInLast = {0, 2, 3, 1};
    filter.bytes = permuted(bytes, width, d, kInLast);
    filter.dims = {d[0], d[2], d[3], d[1]};
    return filter;
  }
  // Permutes each group from [in, out, height, width] to [out, height, width, in].
  constexpr std::array<uint32_t, 5> kOutFirst = {0, 2, 3, 4, 1};
  const uint32_t inputs = d[0] / shape.groups;
  filter.bytes = permuted(bytes, width, {shape.groups, inputs, d[1], d[2], d[3]}, kOutFirst);
  filter.dims = {shape.groups * d[1], d[2], d[3], inputs};
  return filter;
}

Bytes quantized_bias(const std::vector<float>& bias, const std::vector<float>& scales) {
  Bytes bytes(bias.size() * sizeof(int32_t));
  for (size_t i = 0; i < bias.size(); ++i) {
    const float scale = scales.size() == 1 ? scales.front() : scales.at(i);
    // PyTorch also multiplies by the reciprocal and rounds ties to even.
    const float quotient = std::nearbyintf(bias[i] * (1.0f / scale));
    constexpr auto kMin = static_cast<float>(std::numeric_limits<int32_t>::min());
    int32_t number = std::numeric_limits<int32_t>::max();
    if (std::isnan(quotient)) {
      number = 0;
    } else if (quotient < -kMin) {
      number = static_cast<int32_t>(std::max(quotient, kMin));
    }
    std::memcpy(&bytes[i * sizeof number], &number, sizeof number);
  }
  return bytes;
}

Bytes packed_int4(const Bytes& bytes, size_t columns) {
  const size_t rows = columns == 0 ? 0 : bytes.size() / columns;
  const size_t row_bytes = (columns + 1) / 2;
  Bytes packed(rows * row_bytes);
  const auto half = [&](size_t row, size_t column) {
    if (column >= columns) return 8u;
    const auto number = std::bit_cast<int8_t>(bytes[row * columns + column]);
    if (number < -8 || number > 7) {
      throw AotError(fmt::format("an int4 weight is {}, expected -8 to 7", number));
    }
    return static_cast<unsigned>(number + 8);
  };
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < row_bytes; ++i) {
      packed[row * row_bytes + i] =
          static_cast<std::byte>(half(row, 2 * i) | (half(row, 2 * i + 1) << 4));
    }
  }
  return packed;
}

std::vector<uint16_t> to_bfloat16(const std::vector<float>& numbers) {
  std::vector<uint16_t> result(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) result[i] = BFloat16(numbers[i]).bits;
  return result;
}

std::optional<std::vector<float>> floats_of(const TensorData& data) {
  const Bytes bytes = row_major_bytes(data);
  switch (data.dtype) {
    case ScalarType::kFloat:
      return widened<float>(bytes);
    case ScalarType::kDouble:
      return widened<double>(bytes);
    case ScalarType::kHalf:
      return widened<Half>(bytes);
    case ScalarType::kBFloat16:
      return widened<BFloat16>(bytes);
    default:
      return {};
  }
}

Bytes bytes_of_floats(const std::vector<float>& numbers) {
  Bytes bytes(numbers.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::optional<Datatype> float_datatype(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kFloat:
      return Datatype::xnn_datatype_fp32;
    case ScalarType::kHalf:
      return Datatype::xnn_datatype_fp16;
    case ScalarType::kBFloat16:
      return Datatype::xnn_datatype_bf16;
    default:
      return {};
  }
}

Bytes float_bytes(Datatype type, const std::vector<float>& numbers) {
  switch (type) {
    case Datatype::xnn_datatype_fp16:
      return rounded<Half>(numbers);
    case Datatype::xnn_datatype_bf16:
      return rounded<BFloat16>(numbers);
    default:
      return bytes_of_floats(numbers);
  }
}

}  // namespace vitrine::aot::xnnpack
