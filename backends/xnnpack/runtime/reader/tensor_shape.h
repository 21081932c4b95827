#pragma once

#include <algorithm>

#include "backends/xnnpack/runtime/reader/shape.h"
#include "vitrine/tensor.h"

namespace vitrine::xnnpack {

// Delegates do not support rank 0; they use a single dimension of 1 instead.
inline size_t xnnpack_rank(const Tensor& tensor) { return std::max<size_t>(tensor.rank(), 1); }

// Returns the sizes in memory order. A channels-last tensor has an NHWC shape.
inline Shape shape_of(const Tensor& tensor) {
  Shape shape{xnnpack_rank(tensor), {1}};
  for (size_t i = 0; i < tensor.rank(); ++i) {
    shape[i] = static_cast<size_t>(tensor.size(tensor.dim_order()[i]));
  }
  return shape;
}

// Returns shape_of(tensor) == shape, but is faster.
inline bool has_shape(const Tensor& tensor, const Shape& shape) {
  if (tensor.rank() != shape.rank) return tensor.rank() == 0 && shape.rank == 1 && shape[0] == 1;
  const int32_t* const sizes = tensor.sizes().data();
  if (tensor.is_contiguous()) {
    for (size_t i = 0; i < shape.rank; ++i) {
      if (static_cast<size_t>(sizes[i]) != shape[i]) return false;
    }
    return true;
  }
  for (size_t i = 0; i < shape.rank; ++i) {
    if (static_cast<size_t>(sizes[tensor.dim_order()[i]]) != shape[i]) return false;
  }
  return true;
}

}  // namespace vitrine::xnnpack
