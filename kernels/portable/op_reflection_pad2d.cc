#include "kernels/util/segments.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void reflection_pad2d_out(KernelContext& context, const Tensor& self,
                          std::span<const int64_t> padding, Tensor& out) {
  pad_edges(context, self, padding, 2, PadMode::kReflection, out);
}

}  // namespace

VITRINE_KERNEL(reflection_pad2d_out, "aten::reflection_pad2d.out", reflection_pad2d_out);

}  // namespace vitrine::portable
