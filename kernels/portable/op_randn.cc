// Normal, of mean 0 and variance 1.
#include "kernels/util/random.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void randn_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  fill_random(context, size, out, [](Random& random) { return random.normal(); });
}

}  // namespace

VITRINE_KERNEL(randn_out, "aten::randn.out", randn_out);

}  // namespace vitrine::portable
