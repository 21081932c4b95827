#include "kernels/util/convolution.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const Tensor* bias, std::span<const int64_t> stride,
                     std::span<const int64_t> padding, std::span<const int64_t> dilation,
                     bool transposed, std::span<const int64_t> output_padding, int64_t groups,
                     Tensor& out) {
  convolution(context, input, weight, bias, stride, padding, dilation, transposed, output_padding,
              groups, out, convolve);
}

}  // namespace

VITRINE_KERNEL(convolution_out, "aten::convolution.out", convolution_out);

}  // namespace vitrine::portable
