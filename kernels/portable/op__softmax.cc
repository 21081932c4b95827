#include "kernels/util/softmax.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                 Tensor& out) {
  softmax(context, self, dim, half_to_float, false, out);
}

}  // namespace

VITRINE_KERNEL(softmax_out, "aten::_softmax.out", softmax_out);

}  // namespace vitrine::portable
