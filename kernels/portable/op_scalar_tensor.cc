#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void scalar_tensor_out(KernelContext& context, const Scalar& s, Tensor& out) {
  if (resize_to(context, out, {})) fill(context, s, out);
}

}  // namespace

VITRINE_KERNEL(scalar_tensor_out, "aten::scalar_tensor.out", scalar_tensor_out);

}  // namespace vitrine::portable
