#include "kernels/util/softmax.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <bool logarithm>
void softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                 Tensor& out) {
  softmax(context, self, dim, half_to_float, logarithm, out);
}

}  // namespace

VITRINE_KERNEL(log_softmax_out, "aten::_log_softmax.out", softmax_out<true>);
VITRINE_KERNEL(softmax_out, "aten::_softmax.out", softmax_out<false>);

}  // namespace vitrine::portable
