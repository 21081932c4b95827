#include "kernels/util/softmax.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void log_softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                     Tensor& out) {
  softmax(context, self, dim, half_to_float, true, out);
}

}  // namespace

VITRINE_KERNEL(log_softmax_out, "aten::_log_softmax.out", log_softmax_out);

}  // namespace vitrine::portable
