#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aot/graph/tensor_data.h"
#include "backends/xnnpack/aot/payload_graph.h"

namespace vitrine::aot::xnnpack {

using Bytes = std::vector<std::byte>;

// Permutes the dims of row-major elements. An element has `width` bytes.
Bytes permuted(const Bytes& bytes, size_t width, const std::vector<uint32_t>& dims,
               std::span<const uint32_t> perm);

// The shape of a convolution's weight is [out, in / groups, height, width]. The shape of a
// transposed convolution's weight is [in, out / groups, height, width].
struct FilterShape {
  std::vector<uint32_t> dims;
  bool is_transposed = false;
  uint32_t groups = 1;

  bool is_depthwise() const { return !is_transposed && dims[1] == 1; }
};
struct ArrangedFilter {
  Bytes bytes;
  // [out, height, width, in / groups], or [1, height, width, out] for a depthwise filter.
  std::vector<uint32_t> dims;
  int32_t channel_dim = 0;
};
ArrangedFilter arranged_filter(const Bytes& bytes, size_t width, const FilterShape& shape);

// Quantizes biases to int32. `scales` has one element, or one element per channel.
Bytes quantized_bias(const std::vector<float>& bias, const std::vector<float>& scales);

// Packs rows of `columns` int8 values from -8 to 7 into 4 bits per value, as value + 8. The low
// four bits of a byte hold an even column. Throws AotError if a value is out of range.
Bytes packed_int4(const Bytes& bytes, size_t columns);

// Rounds to nearest, ties to even.
std::vector<uint16_t> to_bfloat16(const std::vector<float>& numbers);

// Returns row-major f32. Empty if `data` does not have a float type.
std::optional<std::vector<float>> floats_of(const TensorData& data);

Bytes bytes_of_floats(const std::vector<float>& numbers);
// Returns the payload's datatype for f32, f16 or bf16. Empty for other dtypes.
std::optional<Datatype> float_datatype(ScalarType dtype);
// Converts `numbers` to fp32, fp16 or bf16. Rounds to nearest, ties to even.
Bytes float_bytes(Datatype type, const std::vector<float>& numbers);

}  // namespace vitrine::aot::xnnpack
