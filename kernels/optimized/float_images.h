// Row-major float images, which pooling and resampling take a line at a time.
#pragma once

#include "kernels/util/checks.h"
#include "vitrine/tensor.h"

namespace vitrine::optimized {

inline bool are_plain(const Tensor& images, const Tensor& out) {
  return images.dtype() == ScalarType::kFloat && images.is_contiguous() && images.numel() != 0 &&
         out.dtype() == ScalarType::kFloat && out.is_contiguous();
}

inline int64_t planes_of(const Tensor& images) {
  return size_product(images, 0, images.rank() - 2);
}

}  // namespace vitrine::optimized
