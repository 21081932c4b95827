#include "kernels/util/random.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <double (Random::*next)()>
void rand_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  fill_random(context, size, out, [](Random& random) { return (random.*next)(); });
}

}  // namespace

VITRINE_KERNEL(rand_out, "aten::rand.out", rand_out<&Random::uniform>);
VITRINE_KERNEL(randn_out, "aten::randn.out", rand_out<&Random::normal>);

}  // namespace vitrine::portable
