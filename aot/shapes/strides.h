// The memory layout of results, as PyTorch's operators choose it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aot/graph/tensor_spec.h"

namespace vitrine::aot {

// Row-major; dims of size 1 may have any stride.
bool is_contiguous(const TensorSpec& spec);
// Channels innermost, of rank 4 or 5, and not row-major as well.
bool is_channels_last(const TensorSpec& spec);
std::vector<SymInt> channels_last_strides(const std::vector<SymInt>& sizes);
// Whether elements fill their memory without gaps or overlap. False if unknown.
bool is_dense(const TensorSpec& spec);
// Strides of a view with other sizes; empty if no such view exists. Like ATen's computeStride.
std::optional<std::vector<SymInt>> view_strides(const TensorSpec& spec,
                                                const std::vector<SymInt>& sizes);
// The strides of an element-wise result, whose dims are in the order of its inputs' dims.
std::vector<SymInt> elementwise_strides(std::span<const TensorSpec* const> inputs,
                                        const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
