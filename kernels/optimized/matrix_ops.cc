// The operators that multiply matrices, and convolution: shapes and errors are the portable ones'.
#include "kernels/optimized/convolution.h"
#include "kernels/optimized/matrix_product.h"
#include "kernels/optimized/take_over.h"

namespace vitrine::optimized {

namespace {

void mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  mm(context, self, mat2, out, multiply_matrices);
}

void bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  bmm(context, self, mat2, out, multiply_matrices);
}

void addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
               const Scalar& beta, const Scalar& alpha, Tensor& out) {
  addmm(context, self, mat1, mat2, beta, alpha, out, multiply_matrices);
}

void linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                const Tensor* bias, Tensor& out) {
  linear(context, input, weight, bias, out, multiply_matrices);
}

void convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const Tensor* bias, std::span<const int64_t> stride,
                     std::span<const int64_t> padding, std::span<const int64_t> dilation,
                     bool transposed, std::span<const int64_t> output_padding, int64_t groups,
                     Tensor& out) {
  convolution(context, input, weight, bias, stride, padding, dilation, transposed, output_padding,
              groups, out, convolve);
}

}  // namespace

VITRINE_KERNEL(addmm_out, "aten::addmm.out", addmm_out);
VITRINE_KERNEL(bmm_out, "aten::bmm.out", bmm_out);
VITRINE_KERNEL(convolution_out, "aten::convolution.out", convolution_out);
VITRINE_KERNEL(linear_out, "aten::linear.out", linear_out);
VITRINE_KERNEL(mm_out, "aten::mm.out", mm_out);

}  // namespace vitrine::optimized
