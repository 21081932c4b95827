// Uniform in [0, 1).
#include "kernels/util/random.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void rand_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  fill_random(context, size, out, [](Random& random) { return random.uniform(); });
}

}  // namespace

VITRINE_KERNEL(rand_out, "aten::rand.out", rand_out);

}  // namespace vitrine::portable
