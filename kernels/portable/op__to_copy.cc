#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The memory format is that of `out`, which the program has planned.
void to_copy_out(KernelContext& context, const Tensor& self, bool non_blocking,
                 std::optional<int64_t> memory_format, Tensor& out) {
  (void)non_blocking;
  (void)memory_format;
  copy_tensor(context, self, out);
}

}  // namespace

VITRINE_KERNEL(_to_copy_out, "aten::_to_copy.out", to_copy_out);

}  // namespace vitrine::portable
