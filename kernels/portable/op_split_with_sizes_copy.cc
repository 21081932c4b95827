#include "kernels/util/split.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void split_with_sizes_copy_out(KernelContext& context, const Tensor& self,
                               std::span<const int64_t> split_sizes, int64_t dim,
                               std::span<Tensor* const> out) {
  split_tensor(context, self, dim, out, static_cast<int64_t>(split_sizes.size()),
               [&](int64_t i) { return split_sizes[static_cast<size_t>(i)]; });
}

}  // namespace

VITRINE_KERNEL(split_with_sizes_copy_out, "aten::split_with_sizes_copy.out",
               split_with_sizes_copy_out);

}  // namespace vitrine::portable
