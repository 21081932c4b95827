#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/convolution.h"
#include "kernels/util/layout.h"
#include "runtime/kernel/kernel.h"

namespace vitrine::portable {

namespace {

void convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const Tensor* bias, std::span<const int64_t> stride,
                     std::span<const int64_t> padding, std::span<const int64_t> dilation,
                     bool transposed, std::span<const int64_t> output_padding, int64_t groups,
                     Tensor& out) {
  const size_t rank = input.rank();
  if (rank < 3 || rank > 5) {
    context.fail(ErrorCode::kInvalidArgument, "input is of rank %zu, not 3 to 5", rank);
    return;
  }
  if (!check_rank(context, weight, rank, "weight")) return;
  const auto window = read_convolution_window(context, rank - 2, stride, padding, dilation,
                                              transposed, output_padding, groups);
  if (!window) return;
  std::array<int64_t, 5> sizes;
  sizes[0] = input.size(0);
  sizes[1] = transposed ? weight.size(1) * groups : weight.size(0);
  for (size_t i = 2; i < rank; ++i) {
    const auto size =
        convolution_output_size(*window, 5 - rank + i - 2, input.size(i), weight.size(i));
    if (!size) {
      context.fail(ErrorCode::kInvalidArgument,
                   "a kernel of %d elements does not fit the input, of %d, in dimension %zu",
                   weight.size(i), input.size(i), i);
      return;
    }
    sizes[i] = *size;
  }
  if (!resize_to(context, out, std::span(sizes).first(rank))) return;
  convolve(context, input, weight, bias, *window, out);
}

}  // namespace

VITRINE_KERNEL(convolution_out, "aten::convolution.out", convolution_out);

}  // namespace vitrine::portable
