// Recognizes memory layouts, and computes the layouts of PyTorch's results.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aot/graph/tensor_spec.h"

namespace vitrine::aot {

// True if the tensor is row-major. Dims of size 1 may have any stride.
bool is_contiguous(const TensorSpec& spec);
// True if rank is 4 or 5 and channels are innermost in memory. False for row-major tensors.
bool is_channels_last(const TensorSpec& spec);
std::vector<SymInt> channels_last_strides(const std::vector<SymInt>& sizes);
// True if the elements are known to fill their memory without gaps or overlaps.
bool is_dense(const TensorSpec& spec);
// Returns the strides of a view with other sizes, like ATen's computeStride. Empty if the view is
// impossible.
std::optional<std::vector<SymInt>> view_strides(const TensorSpec& spec,
                                                const std::vector<SymInt>& sizes);
// Returns the strides of an element-wise result, in the dim order of the inputs.
std::vector<SymInt> elementwise_strides(std::span<const TensorSpec* const> inputs,
                                        const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
