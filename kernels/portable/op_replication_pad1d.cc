#include "kernels/util/segments.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void replication_pad1d_out(KernelContext& context, const Tensor& self,
                           std::span<const int64_t> padding, Tensor& out) {
  pad_edges(context, self, padding, 1, PadMode::kReplication, out);
}

}  // namespace

VITRINE_KERNEL(replication_pad1d_out, "aten::replication_pad1d.out", replication_pad1d_out);

}  // namespace vitrine::portable
