// Memory layouts, and the layouts that PyTorch's operators choose for their results.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aot/graph/tensor_spec.h"

namespace vitrine::aot {

// True if the tensor is row-major. Dims of size 1 may have any stride.
bool is_contiguous(const TensorSpec& spec);
// True if the tensor has rank 4 or 5, its channels are innermost, and it is not row-major, too.
bool is_channels_last(const TensorSpec& spec);
std::vector<SymInt> channels_last_strides(const std::vector<SymInt>& sizes);
// True if the elements fill their memory without gaps or overlap. False if unknown.
bool is_dense(const TensorSpec& spec);
// Strides of a view with other sizes, computed like ATen's computeStride. Empty if no such view
// exists.
std::optional<std::vector<SymInt>> view_strides(const TensorSpec& spec,
                                                const std::vector<SymInt>& sizes);
// The strides of an element-wise result. Its dim order follows those of its inputs.
std::vector<SymInt> elementwise_strides(std::span<const TensorSpec* const> inputs,
                                        const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
