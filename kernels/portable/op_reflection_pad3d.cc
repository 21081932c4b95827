#include "kernels/util/segments.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void reflection_pad3d_out(KernelContext& context, const Tensor& self,
                          std::span<const int64_t> padding, Tensor& out) {
  pad_edges(context, self, padding, 3, PadMode::kReflection, out);
}

}  // namespace

VITRINE_KERNEL(reflection_pad3d_out, "aten::reflection_pad3d.out", reflection_pad3d_out);

}  // namespace vitrine::portable
