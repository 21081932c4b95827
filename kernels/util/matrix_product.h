#pragma once

#include <cstdint>

#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine {

// A tensor viewed as a matrix. `layout` has rank 2.
struct MatrixView {
  const Tensor& tensor;
  const Layout& layout;
};

// The term beta * tensor of a product. The layout has the product's shape. If beta is 0, the tensor
// is not read.
struct Addend {
  const Tensor& tensor;
  const Layout& layout;
  Scalar beta;
};

// out = alpha * (left x right) + addend.
struct MatrixProduct {
  MatrixView left;
  MatrixView right;
  Tensor& out;
  const Layout& out_layout;
  const Addend* addend = nullptr;
  Scalar alpha = int64_t{1};
};

// Fails if dtypes differ or are not REALHBF16, if the shapes do not match, or if a tensor has no
// memory.
[[nodiscard]] bool check_product(KernelContext& context, const MatrixProduct& product);

// A function that computes a product. The caller has checked the arguments.
using MultiplyMatrices = void (*)(KernelContext& context, const MatrixProduct& product);

// Supports any dtype and layout. Half and BFloat16 are summed in float.
void multiply_matrices(KernelContext& context, const MatrixProduct& product);

void mm(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out,
        MultiplyMatrices multiply);
void bmm(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out,
         MultiplyMatrices multiply);
void addmm(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
           const Scalar& beta, const Scalar& alpha, Tensor& out, MultiplyMatrices multiply);
// out[..., n] = input[..., k] x weight[n, k]^T + bias[n]. A bias of one element applies to all
// columns.
void linear(KernelContext& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
            Tensor& out, MultiplyMatrices multiply);

template <MultiplyMatrices multiply>
void mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  mm(context, self, mat2, out, multiply);
}

template <MultiplyMatrices multiply>
void bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  bmm(context, self, mat2, out, multiply);
}

template <MultiplyMatrices multiply>
void addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
               const Scalar& beta, const Scalar& alpha, Tensor& out) {
  addmm(context, self, mat1, mat2, beta, alpha, out, multiply);
}

template <MultiplyMatrices multiply>
void linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                const Tensor* bias, Tensor& out) {
  linear(context, input, weight, bias, out, multiply);
}

}  // namespace vitrine
