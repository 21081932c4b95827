#include "kernels/util/piecewise_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <PadMode mode, size_t spatial>
void pad_out(KernelContext& context, const Tensor& self, std::span<const int64_t> padding,
             Tensor& out) {
  pad_edges(context, self, padding, spatial, mode, out);
}

}  // namespace

VITRINE_KERNEL(reflection_pad1d_out, "aten::reflection_pad1d.out",
               (pad_out<PadMode::kReflection, 1>));
VITRINE_KERNEL(reflection_pad2d_out, "aten::reflection_pad2d.out",
               (pad_out<PadMode::kReflection, 2>));
VITRINE_KERNEL(reflection_pad3d_out, "aten::reflection_pad3d.out",
               (pad_out<PadMode::kReflection, 3>));
VITRINE_KERNEL(replication_pad1d_out, "aten::replication_pad1d.out",
               (pad_out<PadMode::kReplication, 1>));
VITRINE_KERNEL(replication_pad2d_out, "aten::replication_pad2d.out",
               (pad_out<PadMode::kReplication, 2>));
VITRINE_KERNEL(replication_pad3d_out, "aten::replication_pad3d.out",
               (pad_out<PadMode::kReplication, 3>));

}  // namespace vitrine::portable
