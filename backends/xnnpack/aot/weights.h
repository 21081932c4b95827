// Constants as XNNPACK wants them: in its order of dims, quantised, packed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aot/graph/tensor_data.h"
#include "backends/xnnpack/aot/blob_graph.h"

namespace vitrine::aot::xnnpack {

using Bytes = std::vector<std::byte>;

// Row-major elements of `width` bytes, with dims in the order of `perm`.
Bytes permuted(const Bytes& bytes, size_t width, const std::vector<uint32_t>& dims,
               std::span<const uint32_t> perm);

// A convolution's weight [out, in / groups, height, width], or a transposed one's
// [in, out / groups, height, width], and where its output channels are once it is arranged.
struct FilterShape {
  std::vector<uint32_t> dims;  // four
  bool is_transposed = false;
  uint32_t groups = 1;

  bool is_depthwise() const { return !is_transposed && dims[1] == 1; }
};
struct ArrangedFilter {
  Bytes bytes;
  // [out, height, width, in / groups]; of depthwise ones [1, height, width, out].
  std::vector<uint32_t> dims;
  int32_t channel_dim = 0;
};
ArrangedFilter arranged_filter(const Bytes& bytes, size_t width, const FilterShape& shape);

// Biases are int32 in units of `scales`: one for all, or one a channel.
Bytes quantised_bias(const std::vector<float>& bias, const std::vector<float>& scales);

// int8 numbers from -8 to 7, in rows of `columns` -> two in a byte, the even one in the low half,
// each with 8 added. AotError if one is out of range.
Bytes packed_int4(const Bytes& bytes, size_t columns);

// Rounded to nearest, ties to even.
std::vector<uint16_t> to_bfloat16(const std::vector<float>& numbers);

// The numbers as f32, row by row. Empty if they are not floats.
std::optional<std::vector<float>> floats_of(const TensorData& data);

Bytes bytes_of_floats(const std::vector<float>& numbers);
Bytes bytes_of_halves(const std::vector<float>& numbers);

}  // namespace vitrine::aot::xnnpack
