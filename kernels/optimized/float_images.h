// Checks that tensors are row-major float images, and counts the planes of images.
#pragma once

#include "kernels/util/checks.h"
#include "vitrine/tensor.h"

namespace vitrine::optimized {

inline bool are_row_major_float(const Tensor& images, const Tensor& out) {
  return images.dtype() == ScalarType::kFloat && images.is_contiguous() && images.numel() != 0 &&
         out.dtype() == ScalarType::kFloat && out.is_contiguous();
}

inline int64_t plane_count(const Tensor& images) {
  return size_product(images, 0, images.rank() - 2);
}

}  // namespace vitrine::optimized
