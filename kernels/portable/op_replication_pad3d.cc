#include "kernels/util/segments.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void replication_pad3d_out(KernelContext& context, const Tensor& self,
                           std::span<const int64_t> padding, Tensor& out) {
  pad_edges(context, self, padding, 3, PadMode::kReplication, out);
}

}  // namespace

VITRINE_KERNEL(replication_pad3d_out, "aten::replication_pad3d.out", replication_pad3d_out);

}  // namespace vitrine::portable
