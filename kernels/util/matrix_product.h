// Products of two matrices that are parts of tensors.
#pragma once

#include <cstdint>

#include "kernels/util/layout.h"
#include "runtime/core/scalar.h"
#include "runtime/core/tensor.h"
#include "runtime/kernel/kernel_context.h"

namespace vitrine {

// A tensor seen as a matrix by `layout`, of rank 2.
struct MatrixView {
  const Tensor& tensor;
  const Layout& layout;
};

// What is added to the product: beta * tensor, the layout having the product's shape. With beta 0
// the tensor is not read.
struct Addend {
  const Tensor& tensor;
  const Layout& layout;
  Scalar beta;
};

// out = alpha * (left x right) + addend. Fails if dtypes differ or are not REALHBF16, if the shapes
// do not fit, or if a tensor has no memory. Half and BFloat16 sum in float.
void multiply_matrices(KernelContext& context, const MatrixView& left, const MatrixView& right,
                       Tensor& out, const Layout& out_layout, const Addend* addend = nullptr,
                       const Scalar& alpha = int64_t{1});

}  // namespace vitrine
