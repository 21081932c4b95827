#include "kernels/util/segments.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void reflection_pad1d_out(KernelContext& context, const Tensor& self,
                          std::span<const int64_t> padding, Tensor& out) {
  pad_edges(context, self, padding, 1, PadMode::kReflection, out);
}

}  // namespace

VITRINE_KERNEL(reflection_pad1d_out, "aten::reflection_pad1d.out", reflection_pad1d_out);

}  // namespace vitrine::portable
